#include "base/remote_place.h"

#include "base/percent_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace deltascope {

namespace {

using Kind = RemotePlace::Kind;

/// Components between '/', decoded; empty ones at the end are left out.
Result<std::vector<std::string>> componentsOf(std::string_view path, const std::string& address)
{
    std::vector<std::string> components;
    while (path.ends_with('/'))
        path.remove_suffix(1);
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        DS_TRY(std::string component, percentDecode(path.substr(0, end)));
        if (component.empty() || component == "." || component == ".." || component.find('/') != std::string::npos)
            return fail(Code::Usage, fmt::format("\"{}\" cannot be a part of a bucket's name or key", component),
                        address, "write the address without empty parts, \".\" and \"..\"");
        components.push_back(std::move(component));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return components;
}

/// What is wrong with its host is found when it is asked; what may be a secret does not get that far.
bool isServerUrl(std::string_view text)
{
    const bool isHttp = text.starts_with("http://") || text.starts_with("https://");
    return isHttp && !text.ends_with("//") && text.find_first_of("@?# \\\n\r\t") == std::string_view::npos;
}

Result<void> takeOption(RemotePlace& place, std::string_view option, const std::string& address)
{
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view name = option.substr(0, equals);
    DS_TRY(std::string value, percentDecode(option.substr(std::min(equals + 1, option.size()))));
    if (name == "revision" && place.kind == Kind::HubModel && !value.empty()) {
        place.revision = std::move(value);
        return {};
    }
    if (name != "endpoint")
        return fail(Code::Usage, fmt::format("the address has an option \"{}\" that means nothing there", name),
                    address, "?endpoint=URL names the server, ?revision=NAME that of a model repository");
    while (value.ends_with('/'))
        value.pop_back();
    if (!isServerUrl(value))
        return fail(Code::Usage, "the endpoint in the address is no http or https URL of a server", {},
                    "write it as ?endpoint=https://HOST:PORT, without keys in it");
    place.endpoint = std::move(value);
    return {};
}

tl::unexpected<Error> incomplete(std::string_view scheme, const std::string& address)
{
    return fail(Code::Usage, "the address names no bucket", address,
                scheme == "s3" ? "write s3://BUCKET/PREFIX"
                               : "write hf://buckets/OWNER/BUCKET/PREFIX, or hf://OWNER/MODEL?revision=NAME");
}

}

bool isRemoteScheme(std::string_view scheme) noexcept { return scheme == "s3" || scheme == "hf"; }

Result<RemotePlace> parseRemotePlace(std::string_view scheme, const std::string& address)
{
    if (address.find('\0') != std::string::npos)
        return fail(Code::Usage, "the address holds a NUL byte");
    std::string_view rest = std::string_view(address).substr(scheme.size() + 3);
    const std::size_t question = std::min(rest.find('?'), rest.size());
    std::string_view options = rest.substr(std::min(question + 1, rest.size()));
    DS_TRY(std::vector<std::string> parts, componentsOf(rest.substr(0, question), address));

    RemotePlace place;
    if (scheme == "hf") {
        const bool isBucket = !parts.empty() && parts.front() == "buckets";
        place.kind = isBucket ? Kind::HubBucket : Kind::HubModel;
        if (isBucket)
            parts.erase(parts.begin());
    }
    const std::size_t nameParts = place.kind == Kind::S3 ? 1 : 2;
    if (parts.size() < nameParts)
        return incomplete(scheme, address);
    const auto prefix = parts.begin() + static_cast<std::ptrdiff_t>(nameParts);
    place.bucket = fmt::format("{}", fmt::join(parts.begin(), prefix, "/"));
    place.prefix = fmt::format("{}", fmt::join(prefix, parts.end(), "/"));
    while (!options.empty()) {
        const std::size_t end = std::min(options.find('&'), options.size());
        DS_CHECK(takeOption(place, options.substr(0, end), address));
        options.remove_prefix(std::min(end + 1, options.size()));
    }
    return place;
}

std::string RemotePlace::text() const
{
    std::string text = kind == Kind::S3 ? "s3://" : kind == Kind::HubBucket ? "hf://buckets/" : "hf://";
    text += percentEncode(bucket, "/");
    if (!prefix.empty())
        text += '/' + percentEncode(prefix, "/!$'()*+,;=:");
    std::string_view mark = "?";
    if (!revision.empty()) {
        text += fmt::format("{}revision={}", mark, percentEncode(revision, "/"));
        mark = "&";
    }
    if (!endpoint.empty())
        text += fmt::format("{}endpoint={}", mark, percentEncode(endpoint, "/:[]"));
    return text;
}

} // namespace deltascope
