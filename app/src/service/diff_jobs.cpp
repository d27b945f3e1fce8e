#include "diff_jobs.h"

#include "act_plan_view.h"
#include "view/make_views.h"

#include "deltascope/engine/read_acts.h"

#include <algorithm>
#include <chrono>

namespace deltascope::app {

namespace {

/// The link of B's chain whose state is A, if B builds on A.
std::optional<std::size_t> linkOfAInB(const OpenState& a, const OpenState& b)
{
    if (!a.version || !b.version)
        return std::nullopt;
    const auto& links = b.path->links();
    for (std::size_t i = links.size(); i-- > 0;) {
        if (links[i]->store->uri() == a.run->store->uri()
            && links[i]->objects.identity() == a.version->objects.identity())
            return i;
        if (b.path->formOf(i) > 0) // another way than step by step, which does not pass what came and went
            return std::nullopt;
    }
    return std::nullopt;
}

}

Result<void> judgeState(Workbench& bench, const OpenState& state, TaskContext& task)
{
    if (!state.version || state.version->facts)
        return {};
    DS_CHECK(judgeChain(bench, *state.run, *state.version, task));
    return {};
}

namespace {

/// Both states, chosen and not read yet.
Result<std::pair<OpenState, OpenState>> choosePair(Workbench& bench, const DiffRequest& request, TaskContext& task)
{
    DS_TRY(OpenState a, chooseState(bench, request.a, false, task));
    DS_TRY(OpenState b, chooseState(bench, request.b, false, task));
    return std::pair(std::move(a), std::move(b));
}

Result<ActPlan> planOf(const OpenState& a, const OpenState& b)
{
    if (!a.version || !b.version)
        return fail(Code::Usage, "a file on its own has no steps", {}, "Name the folder that holds it.");
    return planDiff({ *a.run, *a.version, a.plans->plan() }, { *b.run, *b.version, b.plans->plan() },
                    a.acceptRewritten || b.acceptRewritten);
}

}

Result<PlannedReadView> planComparison(Workbench& bench, const DiffRequest& request, TaskContext& task)
{
    DS_TRY(const auto pair, choosePair(bench, request, task));
    DS_TRY(const ActPlan plan, planOf(pair.first, pair.second));
    return makePlannedReadView(*pair.first.run, plan);
}

Result<DiffView> diffOf(Workbench& bench, const DiffRequest& request, const std::string& planHash, TaskContext& task)
{
    const DiffChoice& choice = request.choice;
    DiffOptions options { TensorGlobs(choice.tensors), true, {} };
    DS_TRY(options.prefixes, parsePrefixMap(choice.mapPrefix));
    const auto began = std::chrono::steady_clock::now();
    DS_TRY(auto pair, choosePair(bench, request, task));
    OpenState& left = pair.first;
    OpenState& right = pair.second;
    if (!planHash.empty()) {
        DS_TRY(const ActPlan plan, planOf(left, right));
        DS_CHECK(expectPlanned(plan, planHash, left.run->store->uri(), right.version->step()));
    }
    DS_CHECK(readState(bench, left, task));
    DS_CHECK(readState(bench, right, task));
    const auto attempt = [&] {
        return diffStates(bench, *left.state, *right.state, linkOfAInB(left, right), task, options);
    };
    DS_TRY(DiffReport report, tryStates(bench, { &left, &right }, attempt, task));
    if (report.noopsSeen) {
        DS_CHECK(judgeState(bench, left, task));
        DS_CHECK(judgeState(bench, right, task));
    }
    std::vector<Error> notices = left.notices();
    for (Error& notice : right.notices()) {
        if (std::find(notices.begin(), notices.end(), notice) == notices.end())
            notices.push_back(std::move(notice));
    }
    ReadsView reads = makeReadsView({ left.state.get(), right.state.get() }, notices);
    left.state.reset(); // there may be a million tensors: it makes room for the view
    right.state.reset();
    DiffView view = makeDiffView(std::move(report));
    view.globs = choice.tensors;
    view.reads = std::move(reads);
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

} // namespace deltascope::app
