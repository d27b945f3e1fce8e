#include "branch_job.h"

#include "act_plan_view.h"
#include "act_source.h"
#include "annotation_jobs.h"
#include "deltascope/engine/branch.h"

#include <filesystem>

namespace deltascope::app {

namespace {

/// A plan makes no folder.
Result<BranchTarget> targetOf(const Workbench& bench, const BranchRequest& request)
{
    BranchTarget target;
    target.address = request.into.canonical().text();
    if (const Result<std::string>& path = request.into.path()) {
        std::error_code ignored; // what cannot be made fails when it is opened
        if (request.planHash.empty() && !std::filesystem::exists(*path, ignored))
            return target;
        std::filesystem::create_directory(*path, ignored);
        if (!std::filesystem::exists(*path, ignored))
            return fail(Code::NotFound, "the folder for the new run cannot be made", *path,
                        "make the folder that it lies in first, or name another place");
    }
    DS_TRY(target.into, bench.stores->open(request.into, { request.soleWriter }));
    return target;
}

}

Result<BranchView> branch(Workbench& bench, const BranchRequest& request, const std::string& diffBackend,
                          TaskContext& task)
{
    DS_TRY(const ActSource source, openActSource(bench, request.version.source, false));
    DS_TRY(const BranchTarget target, targetOf(bench, request));
    const ChooseVersion choose = [&](const Run& run) { return findVersion(bench, run, request.version.version, task); };
    BranchView view;
    view.source = source.store->uri();
    view.run = source.name;
    view.into = target.address;
    if (!request.planHash.empty()) {
        const ActOptions how { request.planHash, thisUser(), diffBackend };
        DS_TRY(Branched done, deltascope::branch(bench, source.store, source.options, choose, target, how, task));
        view.from = done.from;
        view.step = done.step;
        view.isDone = true;
        view.wasThere = done.wasThere;
        view.keys = std::move(done.keys);
        return view;
    }
    DS_TRY(const BranchPlan plan, planBranch(bench, source.store, source.options, choose, target, task));
    view.from = plan.from;
    view.step = plan.step;
    view.evidence = word(plan.evidence);
    view.stateBytes = plan.stateBytes;
    view.wasThere = plan.isDone;
    view.plan = makeActPlanView(plan.act);
    return view;
}

} // namespace deltascope::app
