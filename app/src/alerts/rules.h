#pragma once

#include "deltascope/app/view/alert_view.h"
#include "deltascope/app/view/summary_view.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

// The built-in rules: pure functions from a run to what is wrong with it. docs/alerts.md has them in words.

/// What a rule looks at.
struct RuleInput {
    const RunView& run;
    const VerifiedSteps& verified;
    std::int64_t nowUs = 0;
    double threshold = 0; ///< in the unit of the rule
};

/// Something that a rule found.
struct Finding {
    std::string subject; ///< tells the alerts of one rule and run apart
    AlertLevel level = AlertLevel::Warn;
    std::optional<std::int64_t> step; ///< another one at the next look: it happened again
    std::optional<std::string> replica;
    std::string title;
    std::string text;
    std::optional<double> value; ///< what was compared with the threshold
    std::int64_t afterUs = 0; ///< how long it has to last before it counts
    /// False: within the limit, but not yet back to normal. It fires nothing and keeps what fires from being cleared.
    bool holds = true;
};
using Findings = std::vector<Finding>;

struct Rule {
    std::string_view id;
    AlertLevel level = AlertLevel::Warn; ///< the lowest one of its findings
    std::string_view what; ///< one sentence
    std::optional<double> threshold; ///< the default; nothing with a unit: the rule rests until one is set
    std::string_view unit; ///< empty: the rule has no threshold
    std::string_view remedy;
    Findings (*find)(const RuleInput&) = nullptr;
};

std::span<const Rule> alertRules();
/// Null if there is none.
const Rule* alertRule(std::string_view id);

// Publication
Findings publishStalled(const RuleInput& input);
Findings anchorOverdue(const RuleInput& input);
Findings storage(const RuleInput& input);
Findings clockSkew(const RuleInput& input);
Findings phantomVersion(const RuleInput& input);
// Chains and their proof
Findings chainGap(const RuleInput& input);
Findings digestMismatch(const RuleInput& input);
Findings drift(const RuleInput& input);
Findings suspectValues(const RuleInput& input);
Findings verifyBehind(const RuleInput& input);
// Trends
Findings densityShift(const RuleInput& input);
Findings densityHigh(const RuleInput& input);
Findings pauseLong(const RuleInput& input);
// Replicas
Findings replicaLag(const RuleInput& input);
Findings replicaForeign(const RuleInput& input);
Findings replicaPoisoned(const RuleInput& input);

} // namespace deltascope::app
