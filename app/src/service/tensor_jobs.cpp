#include "tensor_jobs.h"

#include "address.h"
#include "annotation_jobs.h"
#include "deltascope/engine/rewritten_parts.h"
#include "opening.h"
#include "view/make_views.h"

namespace deltascope::app {

namespace {

/// What a version is compared with if nobody says: the state that it builds on, for an anchor the version before it.
Result<void> planBefore(StatePair& pair, const PlannerAround& planner)
{
    const Run& run = pair.run;
    const Version& version = *pair.version;
    Plan plan;
    if (version.kind == VersionKind::Anchor) {
        const auto self = static_cast<std::size_t>(&version - run.versions.data());
        if (self == 0 || run.versions[self - 1].epoch != version.epoch || run.versions[self - 1].obstacle)
            return {};
        DS_TRY(plan, planner.planFor(run.versions[self - 1]));
        pair.beforeStep = run.versions[self - 1].step();
    } else if (version.base) {
        const Version& base = run.versions[*version.base];
        if (base.obstacle)
            return {};
        DS_TRY(plan, planner.planFor(base));
        pair.beforeStep = base.step();
    } else if (version.onExternalBase && run.base) {
        plan.links.clear();
        plan.fromExternalBase = true;
        pair.beforeStep = version.baseStep;
    } else {
        return {};
    }
    pair.beforePlan = std::move(plan);
    return {};
}

}

Result<OpenPair> openPair(Workbench& bench, const StatePair& pair, TaskContext& task)
{
    OpenPair open;
    DS_TRY(open.now, openChecked(bench, pair.run, pair.plan, pair.acceptRewritten, task));
    if (pair.beforePlan) {
        DS_TRY(open.before, openChecked(bench, pair.run, *pair.beforePlan, pair.acceptRewritten, task));
    }
    return open;
}

Result<StatePair> planPair(Workbench& bench, const TensorRequest& request, TaskContext& task)
{
    if (isSingleFile(request.version))
        return fail(Code::Usage, "a file on its own has no steps", request.version.source.source.text(),
                    "Name the folder that holds it; only digest, diff and publish read one file by itself.");
    StatePair pair;
    pair.acceptRewritten = request.version.acceptRewritten;
    DS_TRY(pair.run, openRequested(bench, request.version.source, task));
    DS_TRY(pair.version, findVersion(bench, pair.run, request.version.version, task));
    const PlannerAround planner(pair.run, pair.acceptRewritten);
    DS_TRY(pair.plan, planner.planFor(*pair.version));
    if (request.against.empty()) {
        DS_CHECK(planBefore(pair, planner));
        return pair;
    }
    DS_TRY(const Version* other, findVersion(bench, pair.run, request.against, task));
    DS_TRY(pair.beforePlan, planner.planFor(*other));
    pair.beforeStep = other->step();
    return pair;
}

namespace {

Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, const StatePair& pair,
                            std::uint32_t maxBlocks, TaskContext& task)
{
    DS_TRY(const OpenPair open, openPair(bench, pair, task));
    DS_TRY(const TensorBlocks blocks,
           ifSound(compareInBlocks(bench, open.before ? *open.before : *open.now, *open.now, request.tensor, maxBlocks,
                                   task),
                   { open.now.get(), open.before.get() }, task));
    BlocksView view = makeBlocksView(blocks, pair.beforeStep);
    view.reads = makeReadsView({ open.before.get(), open.now.get() });
    return view;
}

Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const StatePair& pair,
                                const Window& window, TaskContext& task)
{
    DS_TRY(const OpenPair open, openPair(bench, pair, task));
    DS_TRY(const ElementWindow now,
           ifSound(readWindow(bench, *open.now, request.tensor, window, task), { open.now.get() }, task));
    std::optional<ElementWindow> before;
    if (open.before) {
        DS_TRY(before,
               ifSound(readWindow(bench, *open.before, request.tensor, window, task), { open.before.get() }, task));
    }
    ElementsView view = makeElementsView(pair.version->step(), now, pair.beforeStep, before);
    view.reads = makeReadsView({ open.before.get(), open.now.get() });
    return view;
}

}

Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, std::uint32_t maxBlocks, TaskContext& task)
{
    DS_TRY(StatePair pair, planPair(bench, request, task));
    return comparedIfSound(request, pair,
                           [&](const StatePair& with) { return blocksOf(bench, request, with, maxBlocks, task); });
}

Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const Window& window, TaskContext& task)
{
    DS_TRY(StatePair pair, planPair(bench, request, task));
    return comparedIfSound(request, pair,
                           [&](const StatePair& with) { return elementsOf(bench, request, with, window, task); });
}

} // namespace deltascope::app
