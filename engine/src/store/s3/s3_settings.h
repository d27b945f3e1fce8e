#pragma once

#include "config_files.h"
#include "deltascope/base/result.h"

#include <optional>
#include <string>

namespace deltascope::s3 {

enum class Addressing : std::uint8_t {
    Unset, ///< as completeSettings finds
    Path, ///< https://endpoint/bucket/key
    VirtualHost, ///< https://bucket.endpoint/key
};

/// Where a bucket is, and who asks. What is empty is taken from the environment and the AWS config files by
/// completeSettings.
struct S3Settings {
    std::string bucket;
    std::string prefix; ///< without a slash at either end; keys of the store lie below it. May be empty
    /// URL with scheme, host, perhaps port and path ("https://s3.hf.co/team"). Empty: AWS's own, from the region.
    std::string endpoint;
    std::string region;
    Addressing addressing = Addressing::Unset;
    bool isAnonymous = false; ///< requests are not signed
    std::string profile; ///< of the config files

    // How the store works; nothing of the environment.
    std::string journalFolder; ///< where uploads under way are noted; exists or is made. Empty: they are not noted
    std::string
        caFile; ///< certificates to trust (AWS_CA_BUNDLE, ca_bundle); for ClientOptions of whoever makes a client
    /// The server refuses a conditional put of what exists, atomically. completeSettings knows that Google Cloud
    /// Storage ignores If-None-Match of a put ("Request preconditions": it is for retrievals); others are believed.
    bool hasConditionalPut = true;
    /// The server removes under If-Match. completeSettings knows it of AWS's own ("Conditional deletes", September
    /// 2025); other servers may take the header and ignore it, so that what they hold is compared before.
    bool hasConditionalRemove = false;
    bool isMetadataDisabled = false; ///< AWS_EC2_METADATA_DISABLED: instance metadata is not asked
};

/// Fills what is empty as the AWS SDKs do (AWS SDKs and Tools reference guide): AWS_PROFILE, AWS_REGION,
/// AWS_DEFAULT_REGION, `region`, else us-east-1; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of the section
/// that `services` names, and of the profile, unless AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or its setting says otherwise;
/// `s3.addressing_style`; AWS_CA_BUNDLE and `ca_bundle`. Endpoints other than AWS's own get Path unless the
/// configuration says "virtual". Errors: Usage (what is then wrong), Auth, Io, Hostile (config files).
Result<S3Settings> completeSettings(S3Settings given, const Variables& variables);

/// The URL of another AWS service, as the same rules give it. `variable`: "AWS_ENDPOINT_URL_STS"; `service`: "sts";
/// `fallback` where nothing is configured.
std::string serviceEndpoint(const Variables& variables, const AwsConfig& config, std::string_view profile,
                            std::string_view variable, std::string_view service, std::string fallback);

/// The suffix of host names of the region's partition: "amazonaws.com", in China "amazonaws.com.cn".
std::string_view dnsSuffix(std::string_view region) noexcept;

/// Errors: Usage.
Result<void> checkSettings(const S3Settings& settings);

/// "s3://bucket/prefix", and "?endpoint=…" where it is not AWS's own.
std::string canonicalUri(const S3Settings& settings);

} // namespace deltascope::s3
