#include "log_jobs.h"

#include "affordable_reads.h"
#include "checkpoint_changes.h"
#include "seen_changes.h"
#include "view/make_views.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope::app {

namespace {

/// Changed elements of each tensor at each step, as replays and the catalog know them.
class StepCounts {
public:
    StepCounts(Workbench& bench, Run& run)
        : m_bench(bench)
        , m_run(run)
    {
    }

    Result<void> replay(TaskContext& task)
    {
        DS_CHECK(analyze({}, false, task));
        std::optional<std::pair<std::size_t, std::size_t>>
            lost; // the catalog knows how much, but no more of which tensor
        for (std::size_t at = 0; at < m_run.versions.size(); ++at) {
            const Version& version = m_run.versions[at];
            const bool counted = version.facts && !version.facts->damage && version.facts->replayed
                && m_run.countsOnItsBase(version)
                && (version.kind != VersionKind::Anchor || version.facts->changedVsPrevious);
            if (counted && !of(at))
                lost = std::pair(lost ? lost->first : at, at);
        }
        return lost ? analyze(lost, true, task) : Result<void>();
    }

    /// Nothing where they are not known.
    std::optional<std::vector<TensorCount>> of(std::size_t at) const
    {
        const Version& version = m_run.versions[at];
        std::vector<TensorCount> counts;
        if (const auto fresh = m_fresh.find(at); fresh != m_fresh.end()) {
            counts = fresh->second;
        } else if (m_bench.catalog && version.facts) {
            if (auto known = m_bench.catalog->counts(m_source, version.objects.name, m_keys[at]))
                counts = std::move(*known);
        }
        return explains(m_run, version, counts) ? std::optional(std::move(counts)) : std::nullopt;
    }

private:
    Result<void> analyze(std::optional<std::pair<std::size_t, std::size_t>> range, bool again, TaskContext& task)
    {
        AnalyzeOptions options;
        options.range = range;
        options.again = again;
        options.standAloneBytes = affordableBytes(m_run);
        options.onCounts = [&](std::size_t at, const std::vector<TensorCount>& counts) { m_fresh[at] = counts; };
        return analyzeRun(m_bench, m_run, options, task);
    }

    Workbench& m_bench;
    Run& m_run;
    std::string m_source = catalogKey(m_run);
    std::vector<std::string> m_keys = chainKeys(m_run);
    std::map<std::size_t, std::vector<TensorCount>> m_fresh; ///< by index of the version
};

/// Finds the tensors of the newest state that are meant, and which globs are names there.
Result<std::vector<TensorInfo>> tensorsMeant(const Workbench& bench, const Run& run, TensorGlobs& meant, LogView& view,
                                             TaskContext& task)
{
    const Version* newest = run.latest();
    if (!newest)
        return fail(Code::NotFound, "the source holds no version", run.store->uri());
    DS_TRY(const Plan plan, planFor(run, *newest));
    DS_TRY(const PathPtr state, openForFacts(bench, run, plan, task));
    DS_CHECK(state->expectSoundReads(task));
    std::vector<std::string_view> names;
    for (const TensorInfo& tensor : state->tensors())
        names.push_back(tensor.name);
    meant = meant.among(names);
    DS_CHECK(meant.expectEachFits(names, fmt::format("step {} has no", newest->step()), run.store->uri()));
    for (const TensorInfo& tensor : state->tensors()) {
        if (!meant.mean(tensor.name))
            continue;
        ++view.tensors;
        view.elements += tensor.elements();
    }
    view.tensorsInAll = static_cast<std::uint32_t>(names.size());
    return state->copyOfTensors();
}

StepChangeView changeOf(const Version& version, const std::optional<std::vector<TensorCount>>& counts,
                        const TensorGlobs& meant, const std::vector<TensorInfo>& tensors)
{
    StepChangeView change { version.epoch, version.step(), {}, {}, {}, 0, {} };
    const auto find = [&](std::string_view name) -> const TensorInfo* {
        const auto at = std::ranges::lower_bound(tensors, name, {}, &TensorInfo::name);
        return at != tensors.end() && at->name == name ? &*at : nullptr;
    };
    if (counts)
        countInto(change, *counts, meant, find);
    return change;
}

}

Result<LogView> changesOf(Workbench& bench, Run& run, const LogRequest& request, TaskContext& task)
{
    LogView view;
    view.globs = request.tensors;
    TensorGlobs meant(request.tensors);
    StepCounts counts(bench, run);
    if (request.depth == Depth::Replayed) // what it finds damaged is not looked into for names
        DS_CHECK(counts.replay(task));
    std::vector<TensorInfo> tensors;
    if (!meant.meanAll()) {
        DS_TRY(tensors, tensorsMeant(bench, run, meant, view, task));
    }
    if (run.layout->standAlone()) {
        const bool unasked = request.depth == Depth::Replayed && !request.compare;
        CheckpointChanges changes(bench, run, meant, unasked ? UINT32_MAX : request.compare.value_or(0));
        if (unasked)
            changes.limitReads(affordableBytes(run));
        DS_CHECK(changes.compare(task));
        view.changes = changes.steps();
        view.comparison = changes.view();
        return view;
    }
    if (meant.meanAll())
        return view;
    const SeenChanges seen = seenChanges(run, changedSinceSeen(bench, run));
    for (std::size_t at = 0; at < run.versions.size(); ++at) {
        const bool isMiscounted = seen.miscounted.contains(at);
        view.changes.push_back(changeOf(run.versions[at], isMiscounted ? std::nullopt : counts.of(at), meant, tensors));
        if (isMiscounted)
            view.changes.back().why = "an object on the way was rewritten";
    }
    return view;
}

void addChanges(LogView& view)
{
    if (!view.comparison || !view.globs.empty())
        return;
    std::map<std::pair<int, std::int64_t>, const StepChangeView*> byStep;
    for (const StepChangeView& change : view.changes)
        byStep[{ change.epoch, change.step }] = &change;
    for (EpochView& epoch : view.run.epochs) {
        for (StepView& step : epoch.steps) {
            const auto change = byStep.find({ step.epoch, step.step });
            if (change == byStep.end() || !change->second->elements || change->second->unlike > 0)
                continue;
            step.changedVsPrevious = change->second->elements;
            if (step.totalElements.value_or(0) > 0)
                step.changedFraction =
                    static_cast<double>(*step.changedVsPrevious) / static_cast<double>(*step.totalElements);
        }
    }
}

} // namespace deltascope::app
