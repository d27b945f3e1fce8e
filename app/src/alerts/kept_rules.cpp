#include "alerts/kept_rules.h"

#include "deltascope/engine/file_system.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace deltascope::app {

namespace {

constexpr std::size_t MostBytes = std::size_t { 64 } << 10;

std::optional<RuleSetting> settingIn(const nlohmann::json& json)
{
    if (!json.is_object() || !json.contains("on") || !json.at("on").is_boolean())
        return std::nullopt;
    RuleSetting setting { json.at("on").get<bool>(), {} };
    const auto threshold = json.find("threshold");
    if (threshold == json.end())
        return setting;
    if (!threshold->is_number() || !(std::isfinite(threshold->get<double>()) && threshold->get<double>() >= 0))
        return std::nullopt;
    setting.threshold = threshold->get<double>();
    return setting;
}

tl::unexpected<Error> notSettings(const std::string& path)
{
    return fail(Code::Hostile, "the file holds no settings of alert rules", path,
                "Remove it: every rule then has its default again.");
}

}

Result<RuleSettings> readRuleSettings(const std::string& path)
{
    const Result<std::string> text = readTextFile(*makeFileSystem(), path, MostBytes);
    if (!text && text.error().code == Code::NotFound)
        return RuleSettings();
    DS_CHECK(text);
    const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object())
        return notSettings(path);
    RuleSettings settings;
    for (const auto& [rule, value] : json.items()) {
        std::optional<RuleSetting> setting = settingIn(value);
        if (!setting)
            return notSettings(path);
        settings.emplace(rule, *setting);
    }
    return settings;
}

Result<void> writeRuleSettings(const std::string& path, const RuleSettings& settings)
{
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [rule, setting] : settings) {
        json[rule]["on"] = setting.on;
        if (setting.threshold)
            json[rule]["threshold"] = *setting.threshold;
    }
    std::error_code ignored; // the write below reports it
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    return replaceTextFile(*makeFileSystem(), path, json.dump(2) + '\n');
}

} // namespace deltascope::app
