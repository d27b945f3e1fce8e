#include "config_files.h"

#include "deltascope/engine/file_system.h"
#include "encoding.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr std::uint64_t MostConfigBytes = std::uint64_t { 1 } << 20;

/// Without a comment: '#' or ';' at the start of the line, or behind a blank.
std::string_view withoutComment(std::string_view line)
{
    for (std::size_t i = 0; i < line.size(); ++i) {
        if ((line[i] == '#' || line[i] == ';') && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
            return line.substr(0, i);
    }
    return line;
}

/// The section that a heading means, or null for one that is not known.
ConfigSection* sectionOf(std::string_view heading, ConfigKind kind, AwsConfig& config)
{
    const std::string_view name = trimBlanks(heading);
    if (kind == ConfigKind::Credentials || name == "default")
        return &config.profiles[std::string(name)];
    const std::size_t blank = name.find_first_of(" \t");
    if (blank == std::string_view::npos)
        return nullptr;
    const std::string_view word = name.substr(0, blank);
    std::string_view rest = trimBlanks(name.substr(blank));
    if (rest.size() >= 2 && (rest.front() == '"' || rest.front() == '\'') && rest.back() == rest.front())
        rest = rest.substr(1, rest.size() - 2);
    if (word == "profile")
        return &config.profiles[std::string(rest)];
    if (word == "sso-session")
        return &config.ssoSessions[std::string(rest)];
    if (word == "services")
        return &config.services[std::string(rest)];
    return nullptr;
}

std::string configPath(const Variables& variables, std::string_view variable, std::string_view name)
{
    std::string path = variables(variable);
    if (path.empty())
        return awsFolderPath(variables, name);
    if (path.starts_with("~/"))
        path = variables("HOME") + path.substr(1);
    return path;
}

Result<void> addConfigFile(const std::string& path, ConfigKind kind, AwsConfig& config)
{
    if (path.empty() || path == "/dev/null")
        return {};
    const auto disk = makeFileSystem();
    const Result<std::string> text = readTextFile(*disk, path, MostConfigBytes);
    if (!text && text.error().code == Code::NotFound)
        return {};
    DS_CHECK(text);
    return addConfigText(*text, kind, path, config);
}

} // namespace

Variables processVariables()
{
    return [](std::string_view name) {
        const char* const value = std::getenv(std::string(name).c_str());
        return std::string(value ? value : "");
    };
}

std::string AwsConfig::valueOf(std::string_view profile, std::string_view name) const
{
    const auto section = profiles.find(profile);
    if (section == profiles.end())
        return {};
    const auto value = section->second.find(name);
    return value == section->second.end() ? std::string() : value->second;
}

Result<void> addConfigText(std::string_view text, ConfigKind kind, std::string_view where, AwsConfig& config)
{
    ConfigSection* section = nullptr;
    std::string block; ///< name of the setting whose nested lines may follow
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view raw = withoutComment(text.substr(begin, end - begin));
        const std::string_view line = trimBlanks(raw);
        begin = end + 1;
        ++number;
        if (line.empty())
            continue;
        const bool isIndented = raw.front() == ' ' || raw.front() == '\t';
        if (line.front() == '[' && !isIndented) {
            if (line.back() != ']')
                return fail(Code::Usage, fmt::format("line {}: the name of a section lacks its ]", number),
                            std::string(where));
            section = sectionOf(line.substr(1, line.size() - 2), kind, config);
            block.clear();
            continue;
        }
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return fail(Code::Usage, fmt::format("line {} is no \"name = value\"", number), std::string(where));
        if (!section)
            continue;
        const std::string name = lowerCased(trimBlanks(line.substr(0, equals)));
        const std::string_view value = trimBlanks(line.substr(equals + 1));
        if (isIndented && !block.empty()) {
            section->insert_or_assign(block + "." + name, std::string(value));
            continue;
        }
        section->insert_or_assign(name, std::string(value));
        block = value.empty() ? name : std::string();
    }
    return {};
}

Result<AwsConfig> readAwsConfig(const Variables& variables)
{
    AwsConfig config;
    DS_CHECK(addConfigFile(configPath(variables, "AWS_CONFIG_FILE", "config"), ConfigKind::Config, config));
    DS_CHECK(addConfigFile(configPath(variables, "AWS_SHARED_CREDENTIALS_FILE", "credentials"), ConfigKind::Credentials,
                           config));
    return config;
}

std::string awsFolderPath(const Variables& variables, std::string_view name)
{
    const std::string home = variables("HOME");
    return home.empty() ? std::string() : home + "/.aws/" + std::string(name);
}

} // namespace deltascope::s3
