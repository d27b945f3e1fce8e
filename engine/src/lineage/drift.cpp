#include "lineage/drift.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <vector>

namespace deltascope {

namespace {

/// Whether a version is a delta that shows how much a step of training changes.
bool isMeasure(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    return version.kind == VersionKind::Delta && version.facts && version.facts->replayed && !version.facts->damage
        && version.facts->changedElements > 0 && !restoredVersion(run, at);
}

/// Changed elements of the last deltas before a version that change something, at most ten.
std::vector<std::uint64_t> lastDeltas(const Run& run, std::size_t at)
{
    constexpr std::size_t Window = 10;
    std::vector<std::uint64_t> changed;
    for (std::size_t i = at; i-- > 0 && changed.size() < Window && run.versions[i].epoch == run.versions[at].epoch;) {
        if (isMeasure(run, i))
            changed.push_back(run.versions[i].facts->changedElements);
    }
    return changed;
}

/// How many steps of training an anchor may hold that the replay before it does not: one, and one for each version that
/// is missing in front of it. Where writers skip numbers, a version counts that was here and is gone.
std::uint64_t stepsHeldBy(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (at == 0 || run.versions[at - 1].epoch != version.epoch)
        return 1;
    const std::int64_t before = run.versions[at - 1].step();
    if (!run.layout->numbersMaySkip())
        return static_cast<std::uint64_t>(std::max<std::int64_t>(version.step() - before, 1));
    return 1 + static_cast<std::uint64_t>(std::count_if(run.gone.begin(), run.gone.end(), [&](const GoneVersion& gone) {
               return gone.epoch == version.epoch && gone.step > before && gone.step < version.step();
           }));
}

/// Median of the last deltas before a version; nothing without facts.
std::optional<std::uint64_t> usualDelta(const Run& run, std::size_t at)
{
    std::vector<std::uint64_t> changed = lastDeltas(run, at);
    if (changed.empty())
        return std::nullopt;
    std::nth_element(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(changed.size() / 2), changed.end());
    return changed[changed.size() / 2];
}

/// Whether the writer found changes by comparing low bytes alone, as far as its deltas tell: they never hold a change
/// that keeps the low byte, nor a no-op.
bool comparesLowBytes(const Run& run)
{
    if (!run.layout->mayCompareLowBytes() || usualNoops(run).noops > 0)
        return false;
    bool any = false;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        if (version.kind != VersionKind::Delta || !version.facts || restoredVersion(run, i))
            continue;
        if (version.facts->sameLowByte > 0)
            return false;
        any = any || version.facts->changedElements > 0;
    }
    return any;
}

bool isCompared(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    return version.kind == VersionKind::Anchor && version.facts && version.facts->changedVsPrevious && !version.obstacle
        && !restoredVersion(run, at); // what damage changed is no step of training
}

/// Whether the state that the deltas up to a version lead to has the root that its publisher recorded.
bool isReplayProven(const Version& version)
{
    return version.facts && version.facts->rootCheck == VersionFacts::RootCheck::Matches && !version.obstacle;
}

/// The same of the complete state of a version: an anchor, or its full form.
bool isCompleteProven(const Version& version)
{
    const std::optional<std::size_t> form = version.fullForm();
    return form ? version.factsOf(*form)->vouchedFor : isReplayProven(version);
}

/// Whether what is replayed up to a complete state, and that state, are as their publisher recorded: then training
/// itself moved that far.
bool isSeamProven(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (!isCompleteProven(version))
        return false;
    if (version.fullForm())
        return isReplayProven(version);
    return at > 0 && run.versions[at - 1].epoch == version.epoch && isReplayProven(run.versions[at - 1]);
}

std::uint64_t differsInValue(const VersionFacts& facts)
{
    return *facts.changedVsPrevious - std::min(*facts.changedVsPrevious, facts.zeroSigns);
}

std::uint64_t missedAt(const Version& version, bool lowBytes)
{
    return lowBytes ? std::min(version.facts->sameLowByte, differsInValue(*version.facts)) : 0;
}

/// What speaks against an anchor; nothing if it is as far from the replay as training explains.
std::optional<std::string> reasonForAlarm(const Run& run, std::size_t at, std::uint64_t missed)
{
    const Version& version = run.versions[at];
    const VersionFacts& facts = *version.facts;
    const std::optional<std::uint64_t> limit = driftLimit(run, at);
    if (!limit)
        return std::nullopt;
    // Far more missed changes than changes are none: signs that were turned over look the same.
    if (std::max(differsInValue(facts) - missed, missed) > *limit)
        return fmt::format("differs from the replayed state before it in {} elements{}; the last deltas of the run "
                           "explain {}",
                           *facts.changedVsPrevious, signsAmong(facts.zeroSigns), *limit);
    if (!facts.driftedTensors.empty()) {
        const TensorDrift& worst = facts.driftedTensors.front();
        const std::string others = facts.driftedTensors.size() > 1
            ? fmt::format(", and in more than usual of {} other tensors", facts.driftedTensors.size() - 1)
            : std::string();
        if (worst.farMoved > 0)
            return fmt::format("moves {} elements of {} more than eight times as far as any moved in the last deltas "
                               "that touch it{}",
                               worst.farMoved, worst.name, others);
        return fmt::format("differs from the replayed state before it in {} elements of {}, of which the last deltas "
                           "that touch it changed {}{}",
                           worst.differs, worst.name, worst.usual, others);
    }
    return std::nullopt;
}

/// As reasonForAlarm(), for a step with both forms: there the difference holds no step of training.
std::optional<std::string> reasonForAlarmBetweenForms(const Run& run, std::size_t at)
{
    const FormFacts& facts = *run.versions[at].factsOf(*run.versions[at].fullForm());
    const std::optional<std::uint64_t> limit = driftLimit(run, at);
    const std::uint64_t inValue = *facts.differs - std::min(*facts.differs, facts.zeroSigns);
    if (!limit || inValue <= *limit)
        return std::nullopt;
    return fmt::format("differs in {} elements from what its deltas lead to; the last deltas of the run explain {}",
                       inValue, *limit);
}

bool hasCompleteBetween(const Run& run, std::size_t first, std::size_t last)
{
    const auto begin = run.versions.begin();
    return std::any_of(
        begin + static_cast<std::ptrdiff_t>(first) + 1, begin + static_cast<std::ptrdiff_t>(last),
        [](const Version& version) { return version.kind == VersionKind::Anchor || version.fullForm(); });
}

/// What leads from the complete state before to this one, and this one, are in doubt, as far as no root proves them:
/// the files do not tell which is wrong.
void raiseAlarm(Run& run, std::size_t at, const std::string& reason)
{
    Version& anchor = run.versions[at];
    anchor.farFromReplay = true;
    if (isSeamProven(run, at))
        return;
    const bool isProven = isCompleteProven(anchor);
    anchor.driftAlarm = !isProven;
    const std::optional<std::size_t> fullForm = anchor.fullForm();
    anchor.problems.push_back(
        Error { Code::AnchorDrift,
                fmt::format("the {} step {} {}", fullForm ? "full form of" : "anchor at", anchor.step(), reason),
                anchor.objectsOf(fullForm.value_or(0)).name,
                anchor.step(),
                {} });
    for (std::size_t i = at; i > 0;) {
        const std::optional<std::size_t> restored = restoredVersion(run, i); // what it took back leads nowhere
        if (restored && hasCompleteBetween(run, *restored, i))
            return;
        i = restored.value_or(i - 1);
        Version& version = run.versions[i];
        if (version.epoch != anchor.epoch || version.kind == VersionKind::Anchor || version.fullForm()
            || isReplayProven(version))
            return;
        version.driftAlarm = true;
        version.problems.push_back(
            Error { Code::AnchorDrift,
                    fmt::format("step {} leads to the complete state of step {}, which is further from the replay than "
                                "training explains: one of the deltas in front of it{} is wrong",
                                version.step(), anchor.step(), isProven ? "" : ", or that state,"),
                    version.objects.name,
                    version.step(),
                    {} });
    }
}

}

std::string signsAmong(std::uint64_t zeroSigns)
{
    return zeroSigns == 0 ? std::string() : fmt::format(" ({} of them in the sign of zero alone)", zeroSigns);
}

std::optional<std::uint64_t> driftLimit(const Run& run, std::size_t at)
{
    const std::optional<std::uint64_t> limit = driftLimit(lastDeltas(run, at));
    return limit ? std::optional(*limit * stepsHeldBy(run, at)) : std::nullopt;
}

std::optional<std::uint64_t> driftLimit(std::vector<std::uint64_t> changed)
{
    if (changed.size() < 2)
        return std::nullopt;
    std::nth_element(changed.begin(), changed.begin() + 1, changed.end(), std::greater<>());
    return changed[1] + changed[1] / 2;
}

std::optional<Drift> driftAt(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (!version.facts)
        return std::nullopt;
    const VersionFacts& facts = *version.facts;
    if (const std::optional<std::uint64_t> differs = version.fullFormDiffers()) {
        const std::uint64_t zeroSigns = version.factsOf(*version.fullForm())->zeroSigns;
        return Drift { *differs, zeroSigns, 0, *differs - std::min(*differs, zeroSigns) };
    }
    if (!isCompared(run, at))
        return std::nullopt;
    Drift drift { *facts.changedVsPrevious, facts.zeroSigns, 0, std::nullopt };
    if (facts.sameLowByte > 0)
        drift.missed = missedAt(version, comparesLowBytes(run));
    const std::uint64_t inValue = differsInValue(facts) - drift.missed;
    if (const std::optional<std::uint64_t> usual = usualDelta(run, at))
        drift.estimate = inValue - std::min(inValue, *usual);
    return drift;
}

namespace {

/// The fewest elements that a delta around an anchor changed: the last ten, and the next one. Nothing with fewer than
/// two of them.
std::optional<std::uint64_t> fewestChanged(const Run& run, std::size_t at)
{
    std::vector<std::uint64_t> changed = lastDeltas(run, at);
    if (at + 1 < run.versions.size() && run.versions[at + 1].epoch == run.versions[at].epoch) {
        if (isMeasure(run, at + 1))
            changed.push_back(run.versions[at + 1].facts->changedElements);
    }
    return changed.size() < 2 ? std::nullopt : std::optional(*std::min_element(changed.begin(), changed.end()));
}

/// An anchor holds a step of training, or nothing if nothing moved. A small part of a step is neither.
void reportSmallDrift(Run& run, std::size_t at)
{
    Version& version = run.versions[at];
    const std::uint64_t differs = differsInValue(*version.facts);
    const std::optional<std::uint64_t> fewest = fewestChanged(run, at);
    if (differs == 0 || !fewest || differs >= *fewest / 10)
        return;
    version.problems.push_back(
        Error { Code::Missed,
                fmt::format("the anchor at step {} differs from the replay before it in {}; no delta around it "
                            "changed fewer than {}, so a step did not move and some changes were missed",
                            version.step(), differs == 1 ? "1 element" : fmt::format("{} elements", differs), *fewest),
                version.objects.name,
                version.step(),
                {} });
}

}

void assessDrift(Run& run)
{
    const bool lowBytes = comparesLowBytes(run);
    std::uint64_t missed = 0;
    std::vector<std::int64_t> missedAtSteps;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        if (version.fullFormDiffers() && !version.obstacle) {
            if (const std::optional<std::string> reason = reasonForAlarmBetweenForms(run, i))
                raiseAlarm(run, i, *reason);
        }
        if (!isCompared(run, i))
            continue;
        const std::uint64_t here = missedAt(run.versions[i], lowBytes);
        const std::optional<std::string> reason = reasonForAlarm(run, i, here);
        if (reason)
            raiseAlarm(run, i, *reason);
        if (isSeamProven(run, i)) // nothing was missed
            continue;
        if (here == 0 && !reason)
            reportSmallDrift(run, i);
        if (here == 0 || reason)
            continue;
        missed += here;
        missedAtSteps.push_back(run.versions[i].step());
    }
    if (missed > 0)
        run.problems.push_back(Error {
            Code::Missed,
            fmt::format(
                "the writer compares the low bytes of elements alone and has missed {}: the {} {} {}, the "
                "states that the deltas lead to before do not",
                missed == 1 ? "1 change" : fmt::format("{} changes", missed),
                missedAtSteps.size() == 1 ? "anchor at step" : "anchors at steps", fmt::join(missedAtSteps, ", "),
                fmt::format("{} {}", missedAtSteps.size() == 1 ? "holds" : "hold", missed == 1 ? "it" : "them")),
            run.store->uri(),
            std::nullopt,
            {} });
}

} // namespace deltascope
