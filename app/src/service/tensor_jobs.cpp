#include "tensor_jobs.h"

#include "address.h"
#include "opening.h"
#include "view/make_views.h"

namespace deltascope::app {

namespace {

/// A step and the state that it is compared with.
struct StatePair {
    OpenState now;
    std::optional<Chain> before;
    std::optional<std::int64_t> beforeStep;
};

/// What a version is compared with if nobody says: the state that it builds on, for an anchor the version before it.
Result<void> openBefore(StatePair& pair, TaskContext& task)
{
    const Run& run = *pair.now.run;
    const Version& version = *pair.now.version;
    Plan plan = pair.now.plan;
    if (version.kind == VersionKind::Anchor) {
        const auto self = static_cast<std::size_t>(&version - run.versions.data());
        if (self == 0 || run.versions[self - 1].epoch != version.epoch || run.versions[self - 1].obstacle)
            return {};
        DS_TRY(plan, planFor(run, run.versions[self - 1]));
        pair.beforeStep = run.versions[self - 1].step();
    } else {
        plan.links.pop_back();
        if (plan.links.empty() && !plan.fromExternalBase)
            return {};
        pair.beforeStep = version.baseStep;
    }
    DS_TRY(Chain chain, Chain::open(run, plan, task));
    pair.before.emplace(std::move(chain));
    return {};
}

Result<StatePair> openPair(Workbench& bench, const TensorRequest& request, TaskContext& task)
{
    StatePair pair;
    DS_TRY(pair.now, openState(bench, request.version, false, task));
    if (!pair.now.run)
        return fail(Code::Usage, "a file on its own has no steps", request.version.source.source);
    if (request.against.empty()) {
        DS_CHECK(openBefore(pair, task));
        return pair;
    }
    DS_TRY(const Version* other, resolveVersion(*pair.now.run, request.against));
    DS_TRY(const Plan plan, planFor(*pair.now.run, *other));
    DS_TRY(Chain chain, Chain::open(*pair.now.run, plan, task));
    pair.before.emplace(std::move(chain));
    pair.beforeStep = other->step();
    return pair;
}

}

Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, std::uint32_t maxBlocks, TaskContext& task)
{
    DS_TRY(const StatePair pair, openPair(bench, request, task));
    const Chain& now = *pair.now.chain;
    DS_TRY(const TensorBlocks blocks,
           compareInBlocks(bench, pair.before ? *pair.before : now, now, request.tensor, maxBlocks, task));
    return makeBlocksView(blocks, pair.beforeStep);
}

Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const Window& window, TaskContext& task)
{
    DS_TRY(const StatePair pair, openPair(bench, request, task));
    DS_TRY(const ElementWindow now, readWindow(bench, *pair.now.chain, request.tensor, window, task));
    std::optional<ElementWindow> before;
    if (pair.before) {
        DS_TRY(before, readWindow(bench, *pair.before, request.tensor, window, task));
    }
    return makeElementsView(pair.now.version->step(), now, pair.beforeStep, before);
}

} // namespace deltascope::app
