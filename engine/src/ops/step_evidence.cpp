#include "step_evidence.h"

#include <algorithm>

namespace deltascope {

namespace {

/// The first version at or behind `at` in its epoch that has a complete state of its own.
std::optional<std::size_t> nextComplete(const Run& run, std::size_t at)
{
    for (std::size_t i = at; i < run.versions.size() && run.versions[i].epoch == run.versions[at].epoch; ++i) {
        if (run.versions[i].kind == VersionKind::Anchor || run.versions[i].fullForm())
            return i;
    }
    return std::nullopt;
}

/// The version whose complete form the replay of `at` begins with; nothing for a checkpoint outside of the source.
std::optional<std::size_t> startOf(const Run& run, std::size_t at)
{
    while (run.versions[at].kind != VersionKind::Anchor) {
        if (!run.versions[at].base)
            return std::nullopt;
        at = *run.versions[at].base;
        if (run.versions[at].fullForm())
            return at;
    }
    return at;
}

/// Whether the deltas that lead to a complete form lead to its very bits.
bool isEqualToFullForm(const Version& version)
{
    return !version.obstacle && !version.ownFormObstacle && version.fullFormDiffers() == 0U;
}

/// Whether what a complete anchor is compared with contains version `at`, and no roll back took that out again.
bool leadsTo(const Run& run, std::size_t at, std::size_t anchor)
{
    std::size_t on = anchor;
    while (on > at)
        on = restoredVersion(run, on).value_or(on - 1);
    return on == at;
}

/// Whether the next complete state agrees with the replay that leads to it over version `at`.
bool isReplayedToAnchor(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (version.kind == VersionKind::Anchor || !version.facts || version.facts->noops > 0)
        return false;
    if (isEqualToFullForm(version))
        return true;
    const std::optional<std::size_t> complete = nextComplete(run, at + 1);
    return complete && run.versions[*complete].epoch == version.epoch && leadsTo(run, at, *complete)
        && (agreesWithReplay(run, *complete) || isEqualToFullForm(run.versions[*complete]));
}

/// Of a version whose own objects cannot be used.
std::optional<Coverage> coverageOfFullForm(const Version& version, Evidence ofObjects)
{
    const std::optional<std::size_t> form = version.fullForm();
    const FormFacts* const facts = form ? version.factsOf(*form) : nullptr;
    if (!facts)
        return std::nullopt;
    Coverage coverage;
    const Evidence evidence = facts->vouchedFor ? Evidence::Root : ofObjects;
    coverage.counts[static_cast<std::size_t>(evidence)] = version.summaryOf(*form)->tensors;
    return coverage;
}

bool isStartOfEpoch(const Run& run, std::size_t at)
{
    const auto ofEpoch = [&](const Version& version) {
        return version.epoch == run.versions[at].epoch && version.kind == VersionKind::Anchor;
    };
    const auto first = std::find_if(run.versions.begin(), run.versions.end(), ofEpoch);
    return first == run.versions.begin() + static_cast<std::ptrdiff_t>(at);
}

}

bool agreesWithReplay(const Run& run, std::size_t anchor)
{
    const Version& version = run.versions[anchor];
    if (version.kind != VersionKind::Anchor || !version.facts || !version.facts->changedVsPrevious || version.obstacle)
        return false;
    if (run.versions[anchor - 1].kind == VersionKind::Anchor) // nothing was replayed between them
        return false;
    if (restoredVersion(run, anchor)) // it is not meant to be near
        return false;
    return !version.farFromReplay && version.facts->revertedTensors.empty() && driftLimit(run, anchor).has_value();
}

std::vector<bool> trustworthySteps(const Run& run)
{
    std::vector<bool> trustworthy(run.versions.size(), true);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        const bool own = std::none_of(version.problems.begin(), version.problems.end(),
                                      [](const Error& problem) { return forbidsTrust(problem.code); });
        trustworthy[i] = own && (version.kind == VersionKind::Anchor || !version.base || trustworthy[*version.base]);
    }
    return trustworthy;
}

EvidenceAround evidenceAround(const Run& run, std::size_t at, Evidence ofObjects, Evidence ofBase, bool anchors)
{
    const std::optional<std::size_t> start = startOf(run, at);
    const bool toAnchor = anchors && isReplayedToAnchor(run, at);
    EvidenceAround around;
    around.replayed = toAnchor ? Evidence::Anchor : ofObjects;
    if (!start)
        around.start = ofBase;
    else
        around.start = toAnchor || (anchors && agreesWithReplay(run, *start)) ? Evidence::Anchor : ofObjects;
    return around;
}

std::optional<Coverage> coverageAt(const Run& run, std::size_t at, Evidence ofObjects, Evidence ofBase, bool anchors)
{
    const Version& version = run.versions[at];
    if (version.obstacle || !version.summary)
        return std::nullopt;
    if (version.ownFormObstacle)
        return coverageOfFullForm(version, ofObjects);
    const EvidenceAround around = evidenceAround(run, at, ofObjects, ofBase, anchors);
    if (version.facts && version.facts->compared)
        return coverageOf(*version.facts->compared, around);
    if (version.kind != VersionKind::Anchor)
        return std::nullopt;
    // The first state of a run that records nothing of itself: no replay leads to it, and none was compared with it.
    Coverage coverage;
    coverage.counts[static_cast<std::size_t>(around.start)] = version.summary->tensors;
    return coverage;
}

Verdict verdictOfSteps(const Run& run, const std::vector<StepVerdict>& steps)
{
    std::optional<Verdict> worst;
    std::optional<Verdict> worstStart;
    for (const StepVerdict& step : steps) {
        const bool begins = step.verdict == Verdict::FirstSight && isStartOfEpoch(run, step.version);
        std::optional<Verdict>& into = begins ? worstStart : worst;
        into = std::max(into.value_or(step.verdict), step.verdict);
    }
    return worst ? *worst : worstStart.value_or(Verdict::Unverified);
}

std::vector<ConsistentTo> consistentTo(const Run& run, const std::vector<StepVerdict>& steps)
{
    std::vector<ConsistentTo> epochs;
    bool broken = false;
    for (const StepVerdict& step : steps) {
        const Version& version = run.versions[step.version];
        if (epochs.empty() || epochs.back().epoch != version.epoch) {
            epochs.push_back(ConsistentTo { version.epoch, std::nullopt });
            broken = false;
        }
        const bool begins = step.verdict == Verdict::FirstSight && isStartOfEpoch(run, step.version);
        broken = broken || (step.verdict > Verdict::Consistent && !begins);
        if (!broken && !begins)
            epochs.back().step = version.step();
    }
    return epochs;
}

} // namespace deltascope
