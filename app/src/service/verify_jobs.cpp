#include "verify_jobs.h"

#include "act_plan_view.h"
#include "annotation_jobs.h"
#include "opening.h"
#include "view/make_views.h"

#include "deltascope/engine/read_acts.h"

#include <algorithm>
#include <chrono>

namespace deltascope::app {

namespace {

struct Verification {
    Run run;
    VerifyOptions options;
};

Result<Verification> openVerification(Workbench& bench, const VerifyRequest& request, bool acceptLosses,
                                      TaskContext& task)
{
    Verification verification;
    DS_TRY(verification.run, openRequested(bench, request.source, task, {}, acceptLosses));
    VerifyOptions& options = verification.options;
    options.level = request.level;
    options.acceptRewritten = request.acceptRewritten;
    DS_TRY(options.range, findRange(bench, verification.run, request.range, task));
    if (request.until.empty())
        return verification;
    DS_TRY(const Version* until, findVersion(bench, verification.run, request.until, task));
    options.until = static_cast<std::size_t>(until - verification.run.versions.data());
    if (options.range)
        options.until = std::max(*options.until, options.range->second);
    else
        options.range = { 0, *options.until };
    return verification;
}

}

Result<PlannedReadView> planVerification(Workbench& bench, const VerifyRequest& request, TaskContext& task)
{
    DS_TRY(const Verification verification, openVerification(bench, request, false, task));
    return makePlannedReadView(verification.run, planVerify(verification.run, verification.options));
}

Result<VerifyView> verifyOf(Workbench& bench, const VerifyRequest& request, const std::string& planHash,
                            TaskContext& task)
{
    const auto began = std::chrono::steady_clock::now();
    const bool acceptsLosses = request.acceptRewritten && request.level >= 2;
    const bool isPlanned = !planHash.empty();
    DS_TRY(Verification verification, openVerification(bench, request, acceptsLosses && !isPlanned, task));
    if (isPlanned) {
        const ActPlan plan = planVerify(verification.run, verification.options);
        DS_CHECK(expectPlanned(plan, planHash, verification.run.store->uri(), std::nullopt));
        if (acceptsLosses) { // those that the plan names
            DS_TRY(verification, openVerification(bench, request, true, task));
        }
    }
    auto& [run, options] = verification;
    DS_TRY(const VerifyReport report, verifyRun(bench, run, options, task));
    VerifyView view = makeVerifyView(run, report);
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

} // namespace deltascope::app
