#pragma once

#include "deltascope/base/result.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace deltascope::s3 {

/// The value of an environment variable; empty where it is not set.
using Variables = std::function<std::string(std::string_view name)>;

/// Those of this process.
Variables processVariables();

/// Settings of one section by name; those of a nested block as "s3.addressing_style".
using ConfigSection = std::map<std::string, std::string, std::less<>>;

/// What the shared config and credentials files say. Source: AWS SDKs and Tools reference guide, "Shared config and
/// credentials files".
struct AwsConfig {
    std::map<std::string, ConfigSection, std::less<>> profiles; ///< of both files; the credentials file counts more
    std::map<std::string, ConfigSection, std::less<>> ssoSessions;
    std::map<std::string, ConfigSection, std::less<>> services;

    /// The value of a setting of a profile; empty without one.
    std::string valueOf(std::string_view profile, std::string_view name) const;
};

enum class ConfigKind : std::uint8_t {
    Config, ///< sections "default", "profile NAME", "sso-session NAME", "services NAME"
    Credentials, ///< sections are profiles
};

/// Adds a file's text. Errors: Usage, with the line; never with what stands in it.
Result<void> addConfigText(std::string_view text, ConfigKind kind, std::string_view where, AwsConfig& config);

/// Reads ~/.aws/config and ~/.aws/credentials, or the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name.
/// One that is not there is empty. Errors: Usage, Auth, Io, Hostile (larger than 1 MiB).
Result<AwsConfig> readAwsConfig(const Variables& variables);

/// $HOME/.aws/`name`; empty without a home.
std::string awsFolderPath(const Variables& variables, std::string_view name);

} // namespace deltascope::s3
