#include "judge_checkpoints.h"

#include "fact_errors.h"
#include "judge_state.h"
#include "remember_facts.h"
#include "stretches.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

bool isJudged(const Version& version) { return version.facts && version.facts->replayed; }

/// The first version that may be read: the same one at each look, whatever is judged by then.
std::size_t firstAffordable(const Run& run, std::uint64_t bytes)
{
    std::size_t first = run.versions.size();
    while (first > 0) {
        const Version& version = run.versions[first - 1];
        const std::uint64_t needed = isCheckpoint(version) ? aboutBytesOf(version) : 0;
        if (needed > bytes / 2) // each is read beside the one before it
            break;
        bytes -= 2 * needed;
        --first;
    }
    return first;
}

Result<PathPtr> openState(const Workbench& bench, const Run& run, std::size_t at, TaskContext& task)
{
    DS_TRY(const Plan plan, planFor(run, run.versions[at]));
    return openForFacts(bench, run, plan, task);
}

Result<JudgedState> judge(Workbench& bench, const Run& run, std::size_t at, TaskContext& task)
{
    DS_TRY(const WalkMeans means, bench.means());
    DS_TRY(const PathPtr state, openState(bench, run, at, task));
    const std::optional<std::size_t> before = judgedBeside(run, at);
    if (!before)
        return ifSound(judgeState(*state, nullptr, means, task), { state.get() }, task);
    DS_TRY(const PathPtr then, openState(bench, run, *before, task));
    const Version& version = run.versions[*before];
    const StateBefore with { *then, isJudged(version),
                             version.facts ? version.facts->suspectTensors : std::vector<SuspectTensor>() };
    return ifSound(judgeState(*state, &with, means, task), { state.get(), then.get() }, task);
}

/// Which of the two versions that were read an error calls damaged, if its bytes are not those on record.
std::optional<std::size_t> damagedOf(const Run& run, std::size_t at, const Error& error)
{
    if (error.code != Code::Digest && !saysUnlikeRecord(error))
        return std::nullopt;
    if (error.step == run.versions[at].step())
        return at;
    const std::optional<std::size_t> before = judgedBeside(run, at);
    return before && error.step == run.versions[*before].step() ? before : std::nullopt;
}

Result<void> judgeInto(Workbench& bench, Run& run, std::size_t at, const std::vector<std::string>& keys,
                       TaskContext& task)
{
    constexpr std::size_t MostSuspects = 10;
    Result<JudgedState> judged = judge(bench, run, at, task);
    if (!judged && (judged.error().code == Code::Canceled || judged.error().code == Code::Transient))
        return fail(std::move(judged.error()));
    if (!judged) {
        const std::optional<std::size_t> damaged = damagedOf(run, at, judged.error());
        if (!damaged)
            return {};
        run.versions[*damaged].noteDamage(0, judged.error());
        rememberFacts(bench, run, keys, *damaged, std::vector<TensorCount>());
        assess(run);
        return *damaged == at ? Result<void>() : judgeInto(bench, run, at, keys, task); // beside the one before that
    }
    Version& version = run.versions[at];
    std::vector<FormFacts> others = version.facts ? std::move(version.facts->otherForms) : std::vector<FormFacts>();
    VersionFacts& facts = version.facts.emplace();
    facts.otherForms = std::move(others);
    facts.changedElements = version.summary->storedElements;
    judged->suspects.resize(std::min(MostSuspects, judged->suspects.size()));
    facts.suspectTensors = std::move(judged->suspects);
    judged->masks.resize(std::min(MostSuspects, judged->masks.size()));
    facts.infiniteTensors = std::move(judged->masks);
    rememberFacts(bench, run, keys, at, std::vector<TensorCount>());
    return {};
}

}

bool isCheckpoint(const Version& version) { return version.kind == VersionKind::Anchor && isUsable(version); }

std::uint64_t aboutBytesOf(const Version& version)
{
    constexpr std::uint64_t UsualElement = 2;
    return version.summary->storedElements * UsualElement;
}

std::optional<std::size_t> judgedBeside(const Run& run, std::size_t at)
{
    const bool isJudgedSo = run.layout->standAlone() && isCheckpoint(run.versions[at]);
    std::optional<std::size_t> before = isJudgedSo ? run.checkpointBefore(at) : std::nullopt;
    while (before && !isCheckpoint(run.versions[*before]))
        before = run.checkpointBefore(*before);
    return before;
}

Result<void> judgeCheckpoints(Workbench& bench, Run& run, const AnalyzeOptions& options,
                              const std::vector<std::string>& keys, TaskContext& task)
{
    if (!run.layout->standAlone() || run.versions.empty())
        return {};
    auto [first, last] = options.range.value_or(std::pair<std::size_t, std::size_t>(0, run.versions.size() - 1));
    const auto isWanted = [&](std::size_t at) {
        return isCheckpoint(run.versions[at])
            && (!isJudged(run.versions[at]) || (options.again && (!options.range || at >= options.range->first)));
    };
    const std::size_t affordable = firstAffordable(run, options.standAloneBytes);
    while (!options.again && first > affordable && isWanted(first - 1)) // what it is judged by has to be judged before
        --first;
    std::uint64_t bytes = 0;
    for (std::size_t i = std::max(first, affordable); i <= last; ++i)
        bytes += isWanted(i) ? 2 * aboutBytesOf(run.versions[i]) : 0;
    if (bytes == 0)
        return {};
    task.beginPhase("values", bytes);
    for (std::size_t i = std::max(first, affordable); i <= last; ++i) {
        if (isWanted(i))
            DS_CHECK(judgeInto(bench, run, i, keys, task));
    }
    return {};
}

} // namespace deltascope
