#include "s3_settings.h"

#include "deltascope/base/address.h"
#include "deltascope/base/ascii.h"
#include "deltascope/engine/http_url.h"
#include "deltascope/engine/object_store.h"
#include "encoding.h"
#include "replies.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

bool isTrue(std::string_view text) { return equalsIgnoringCase(text, "true") || text == "1"; }

/// The endpoint of a service as a `services` section or the profile names it.
std::string configuredEndpoint(const AwsConfig& config, std::string_view profile, std::string_view service)
{
    if (const std::string name = config.valueOf(profile, "services"); !name.empty()) {
        const auto section = config.services.find(name);
        if (section != config.services.end()) {
            const auto url = section->second.find(std::string(service) + ".endpoint_url");
            if (url != section->second.end() && !url->second.empty())
                return url->second;
        }
    }
    return config.valueOf(profile, "endpoint_url");
}

std::string firstOf(std::initializer_list<std::string> values)
{
    const auto* const found = std::find_if(values.begin(), values.end(), [](const auto& v) { return !v.empty(); });
    return found == values.end() ? std::string() : *found;
}

bool isOfAws(std::string_view host) { return host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn"); }

bool isBucketName(std::string_view name)
{
    constexpr std::size_t MostBytes = 255; // of old buckets; today's have at most 63
    return !name.empty() && name.size() <= MostBytes && name != "." && name != ".."
        && std::all_of(name.begin(), name.end(), [](char c) { return isWordCharacter(c) || c == '-' || c == '.'; });
}

Result<void> checkEndpoint(const std::string& endpoint)
{
    if (endpoint.empty())
        return {};
    const Result<http::Url> url = http::Url::parse(endpoint);
    constexpr const char* Action = "Write the endpoint as https://HOST, https://HOST:PORT or https://HOST/PATH.";
    if (!url || !url->isHttp() || url->host.empty())
        return fail(Code::Usage, "the S3 endpoint is no URL of http or https", {}, Action);
    if (!url->userInfo.empty() || !url->query.empty() || !url->fragment.empty())
        return fail(Code::Usage, "the S3 endpoint must hold no user, query or fragment", url->publicText(), Action);
    return {};
}

} // namespace

std::string serviceEndpoint(const Variables& variables, const AwsConfig& config, std::string_view profile,
                            std::string_view variable, std::string_view service, std::string fallback)
{
    const bool isIgnored = isTrue(firstOf({ variables("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"),
                                            config.valueOf(profile, "ignore_configured_endpoint_urls") }));
    if (isIgnored)
        return fallback;
    return firstOf({ variables(variable), variables("AWS_ENDPOINT_URL"), configuredEndpoint(config, profile, service),
                     std::move(fallback) });
}

Result<S3Settings> completeSettings(S3Settings given, const Variables& variables)
{
    DS_TRY(const AwsConfig config, readAwsConfig(variables));
    if (given.profile.empty())
        given.profile = firstOf({ variables("AWS_PROFILE"), "default" });
    if (given.profile != "default" && config.profiles.find(given.profile) == config.profiles.end())
        return fail(Code::Usage, fmt::format("the AWS config files have no profile \"{}\"", given.profile), {},
                    "Name one that ~/.aws/config or ~/.aws/credentials has, by AWS_PROFILE or in the address.");
    if (given.region.empty())
        given.region = firstOf({ variables("AWS_REGION"), variables("AWS_DEFAULT_REGION"),
                                 config.valueOf(given.profile, "region"), "us-east-1" });
    if (given.endpoint.empty())
        given.endpoint = serviceEndpoint(variables, config, given.profile, "AWS_ENDPOINT_URL_S3", "s3", {});
    while (given.endpoint.ends_with('/'))
        given.endpoint.pop_back();
    if (given.addressing == Addressing::Unset) {
        const std::string style = config.valueOf(given.profile, "s3.addressing_style");
        const bool isHostSafe = given.bucket.find('.') == std::string::npos && lowerCased(given.bucket) == given.bucket
            && given.bucket.find('_') == std::string::npos; // else no certificate or name server knows the host
        const bool isVirtual = style == "virtual" || (style != "path" && given.endpoint.empty() && isHostSafe);
        given.addressing = isVirtual ? Addressing::VirtualHost : Addressing::Path;
    }
    const Result<http::Url> url = http::Url::parse(given.endpoint);
    if (url && lowerCased(url->host).ends_with("storage.googleapis.com"))
        given.hasConditionalPut = false;
    given.hasConditionalRemove = given.endpoint.empty() || (url && isOfAws(lowerCased(url->host)));
    if (given.caFile.empty())
        given.caFile = firstOf({ variables("AWS_CA_BUNDLE"), config.valueOf(given.profile, "ca_bundle") });
    given.isMetadataDisabled = given.isMetadataDisabled || isTrue(variables("AWS_EC2_METADATA_DISABLED"));
    DS_CHECK(checkSettings(given));
    return given;
}

std::string_view dnsSuffix(std::string_view region) noexcept
{
    return region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

Result<void> checkSettings(const S3Settings& settings)
{
    if (!isBucketName(settings.bucket))
        return fail(Code::Usage, "this is no name of a bucket", settings.bucket, "Write s3://BUCKET/PREFIX.");
    if (!settings.prefix.empty())
        DS_CHECK(checkKey(settings.prefix));
    if (!isRegion(settings.region))
        return fail(Code::Usage, "this is no name of a region", settings.region,
                    "Set AWS_REGION to the region of the bucket, as in us-east-1.");
    return checkEndpoint(settings.endpoint);
}

std::string canonicalUri(const S3Settings& settings)
{
    return RemotePlace { RemotePlace::Kind::S3, settings.bucket, settings.prefix, settings.endpoint, {} }.text();
}

} // namespace deltascope::s3
