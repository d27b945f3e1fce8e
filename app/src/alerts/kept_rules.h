#pragma once

#include "deltascope/base/result.h"

#include <map>
#include <optional>
#include <string>

namespace deltascope::app {

/// How a person has set a rule.
struct RuleSetting {
    bool on = true;
    std::optional<double> threshold; ///< nothing: the default of the rule

    bool operator==(const RuleSetting&) const = default;
};
using RuleSettings = std::map<std::string, RuleSetting, std::less<>>; ///< by rule

/// Settings of rules in a file, which outlive the program: {"storage": {"on": true, "threshold": 1000}}. A file that is
/// not there holds none. Errors: Hostile (it holds something else), Io.
Result<RuleSettings> readRuleSettings(const std::string& path);
/// Replaces the file as a whole. Errors: NoSpace, Auth, Io.
Result<void> writeRuleSettings(const std::string& path, const RuleSettings& settings);

} // namespace deltascope::app
