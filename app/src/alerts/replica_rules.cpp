#include "alerts/recent.h"
#include "alerts/rules.h"
#include "deltascope/app/view/replica_state.h"
#include "view/step_place.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

Finding about(const ReplicaView& replica, AlertLevel level, std::string_view title)
{
    Finding finding;
    finding.subject = replica.id;
    finding.level = level;
    finding.replica = replica.id;
    finding.title = fmt::format("{} {}", shortName(replica.id), title);
    return finding;
}

}

Findings replicaLag(const RuleInput& input)
{
    constexpr std::int64_t Normal = 1;
    constexpr double UntilError = 10.0 / 3;
    Findings findings;
    for (const ReplicaView& replica : input.run.replicas) {
        const std::int64_t behind = replica.behind.value_or(0);
        if (hasStopped(replica) || behind <= Normal)
            continue;
        const auto count = static_cast<double>(behind);
        Finding finding = about(replica, count >= UntilError * input.threshold ? AlertLevel::Error : AlertLevel::Warn,
                                fmt::format("is {} versions behind", behind));
        finding.text = fmt::format("{} serves {}; {} newer versions are in the run.{}", replica.id,
                                   replica.step ? fmt::format("step {}", *replica.step) : "no step yet", behind,
                                   replica.late ? " Its heartbeat is late." : "");
        finding.value = count;
        finding.afterUs = 60 * SecondUs;
        finding.holds = count >= input.threshold;
        findings.push_back(std::move(finding));
    }
    return findings;
}

Findings replicaForeign(const RuleInput& input)
{
    constexpr std::int64_t UntilListedUs = 30 * SecondUs; // a listing may be older than a heartbeat
    Findings findings;
    for (const ReplicaView& replica : input.run.replicas) {
        if (hasStopped(replica) || !replica.step || placeOf(input.run, *replica.step) != StepPlace::Foreign)
            continue;
        Finding finding = about(replica, AlertLevel::Error, "serves a foreign version");
        finding.text =
            fmt::format("{} says that it serves step {}, which is not in this run.", replica.id, *replica.step);
        finding.afterUs = UntilListedUs;
        findings.push_back(std::move(finding));
    }
    return findings;
}

Findings replicaPoisoned(const RuleInput& input)
{
    Findings findings;
    for (const ReplicaView& replica : input.run.replicas) {
        if (!isPoisoned(replica))
            continue;
        Finding finding = about(replica, AlertLevel::Error, "holds half-written weights");
        finding.step = replica.step;
        finding.text = replica.detail;
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace deltascope::app
