#include "hub_address.h"

#include "deltascope/engine/http_url.h"
#include "hub_environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace deltascope::hub {

namespace {

constexpr std::string_view HubScheme = "hf://";

int hexDigit(char c) noexcept
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool isLetterOrDigit(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

tl::unexpected<Error> wrongAddress(std::string_view text, std::string why)
{
    return fail(Code::Usage, "the address of the Hub is wrong: " + std::move(why), std::string(text),
                "write hf://buckets/OWNER/BUCKET[/FOLDER] or hf://OWNER/MODEL[?revision=BRANCH]");
}

Result<std::vector<std::string>> addressParts(std::string_view text, std::string_view path)
{
    std::vector<std::string> parts;
    while (!path.empty() && path.back() == '/')
        path.remove_suffix(1);
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        auto part = percentDecoded(path.substr(begin, end - begin));
        if (!part)
            return fail(std::move(part.error()));
        if (part->empty() || part->find('/') != std::string::npos)
            return wrongAddress(text, "a part of its path is empty or holds a slash");
        parts.push_back(std::move(*part));
        begin = end + 1;
    }
    return parts;
}

Result<void> readQuery(std::string_view text, std::string_view query, HubAddress& address)
{
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const std::size_t equals = std::min(one.find('='), one.size());
        DS_TRY(std::string value, percentDecoded(one.substr(std::min(equals + 1, one.size()))));
        const std::string_view name = one.substr(0, equals);
        if (name == "endpoint") {
            DS_TRY(address.endpoint, checkedEndpoint(std::move(value)));
        } else if (name == "revision" && !address.isBucket && !value.empty()) {
            address.revision = std::move(value);
        } else {
            return wrongAddress(text, fmt::format("it has no option \"{}\"", name));
        }
    }
    if (address.endpoint == UsualEndpoint)
        address.endpoint.clear();
    return {};
}

void joinPrefix(std::vector<std::string>::const_iterator begin, std::vector<std::string>::const_iterator end,
                std::string& prefix)
{
    for (; begin != end; ++begin)
        prefix += (prefix.empty() ? "" : "/") + *begin;
}

} // namespace

std::string percentEncoded(std::string_view text, Slashes slashes)
{
    std::string out;
    for (const char c : text) {
        if (isLetterOrDigit(c) || std::string_view("-._~").find(c) != std::string_view::npos
            || (c == '/' && slashes == Slashes::Stay))
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

Result<std::string> percentDecoded(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        const int high = at + 2 < text.size() ? hexDigit(text[at + 1]) : -1;
        const int low = at + 2 < text.size() ? hexDigit(text[at + 2]) : -1;
        if (high < 0 || low < 0)
            return fail(Code::Usage, "a % in an address is followed by two hexadecimal digits", std::string(text),
                        "write a % itself as %25");
        out += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return out;
}

bool isHubName(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= 96 && text != "." && text != ".."
        && std::all_of(text.begin(), text.end(),
                       [](char c) { return isLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; });
}

Result<std::string> checkedEndpoint(std::string text)
{
    while (!text.empty() && text.back() == '/')
        text.pop_back();
    const Result<http::Url> url = http::Url::parse(text);
    if (!url || !url->isHttp() || !url->userInfo.empty() || !url->query.empty() || !url->fragment.empty()
        || text.find_first_of("?#") != std::string::npos)
        return fail(Code::Usage, "the endpoint of the Hub is no plain http or https address", {},
                    "set HF_ENDPOINT, or the endpoint of the address, to https://HOST");
    return text;
}

Result<HubAddress> parseHubAddress(std::string_view text)
{
    if (!text.starts_with(HubScheme))
        return wrongAddress(text, "it does not begin with hf://");
    const std::size_t question = std::min(text.find('?'), text.size());
    DS_TRY(const std::vector<std::string> parts,
           addressParts(text, text.substr(HubScheme.size(), question - HubScheme.size())));
    HubAddress address;
    address.isBucket = parts.front() == "buckets";
    const auto rest = [&](std::size_t count) { return parts.begin() + static_cast<std::ptrdiff_t>(count); };
    if (address.isBucket) {
        if (parts.size() < 3 || !isHubName(parts[1]) || !isHubName(parts[2]))
            return wrongAddress(text, "a bucket is named by its owner and its name");
        address.ns = parts[1];
        address.name = parts[2];
        joinPrefix(rest(3), parts.end(), address.prefix);
    } else {
        if (parts.size() < 2 || !isHubName(parts[0]) || !isHubName(parts[1]))
            return wrongAddress(text, "a model is named by its owner and its name");
        address.name = parts[0] + "/" + parts[1];
        joinPrefix(rest(2), parts.end(), address.prefix);
    }
    if (!address.prefix.empty())
        DS_CHECK(checkKey(address.prefix));
    DS_CHECK(readQuery(text, text.substr(std::min(question + 1, text.size())), address));
    return address;
}

std::string addressText(const HubAddress& address)
{
    std::string text(HubScheme);
    text += address.isBucket ? "buckets/" + address.ns + "/" + address.name : address.name;
    if (!address.prefix.empty())
        text += "/" + percentEncoded(address.prefix, Slashes::Stay);
    char mark = '?';
    const auto add = [&](const char* name, const std::string& value, Slashes slashes) {
        text += std::exchange(mark, '&');
        text += name + percentEncoded(value, slashes);
    };
    if (!address.isBucket && !address.revision.empty())
        add("revision=", address.revision, Slashes::AreEncoded);
    if (!address.endpoint.empty() && address.endpoint != UsualEndpoint) {
        const std::size_t host = address.endpoint.find("://"); // ':' and '/' are plain in a query
        text += fmt::format("{}endpoint={}", std::exchange(mark, '&'), address.endpoint.substr(0, host));
        std::string rest = percentEncoded(address.endpoint.substr(host), Slashes::Stay);
        for (std::size_t at = rest.find("%3A"); at != std::string::npos; at = rest.find("%3A"))
            rest.replace(at, 3, ":");
        text += rest;
    }
    return text;
}

} // namespace deltascope::hub
