#include "compare_restored.h"

#include "fact_errors.h"
#include "lineage/restored.h"

#include <string>

namespace deltascope {

namespace {

/// Empty where the version cannot be rebuilt, on a chain without gaps and from bytes that the records do not
/// contradict: a state that lacks a step differs from one that restores what the step changed, and neither publisher is
/// wrong.
Result<std::string> rootOf(Workbench& bench, const Run& run, const Version& version, TaskContext& task)
{
    if (!version.summary->root.empty())
        return version.summary->root;
    const Result<Plan> plan = planFor(run, version, PlanOptions { false, StateChoice::Served, {} });
    if (!plan || plan->acrossGap)
        return std::string();
    const Result<PathPtr> path = openForFacts(bench, run, *plan, task);
    Result<CheckpointRoot> root =
        path ? rootOfState(bench, **path, LeafHasher::Strength::Fast, task) : fail(path.error());
    if (root)
        return (*path)->rewritten().empty() ? toHex(root->fast) : std::string();
    return endsLearning(root.error().code) ? Result<std::string>(std::string()) : fail(std::move(root.error()));
}

}

Result<std::optional<bool>> compareRestored(Workbench& bench, const Run& run, std::size_t at, TaskContext& task)
{
    using Answer = std::optional<bool>;
    const std::optional<std::size_t> restored = namedAsRestored(run, at);
    if (!restored || !run.versions[*restored].summary)
        return Answer();
    const Version& version = run.versions[at];
    const Version& earlier = run.versions[*restored];
    if (!version.summary->root.empty() && !earlier.summary->root.empty())
        return Answer();
    DS_TRY(const std::string before, rootOf(bench, run, earlier, task));
    DS_TRY(const std::string now, before.empty() ? Result<std::string>(before) : rootOf(bench, run, version, task));
    return now.empty() ? Answer() : Answer(before == now);
}

} // namespace deltascope
