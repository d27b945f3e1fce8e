#include "roll_back_job.h"

#include "act_plan_view.h"
#include "act_source.h"
#include "annotation_jobs.h"
#include "deltascope/engine/roll_back.h"
#include "opening.h"
#include "view/make_views.h"

#include <algorithm>

namespace deltascope::app {

namespace {

/// Those of which the largest share changes, first.
std::vector<ChangedTensorView> changedTensors(const DiffReport& difference)
{
    constexpr std::size_t Most = 256;
    std::vector<ChangedTensorView> tensors;
    for (const TensorDiff& tensor : difference.tensors) {
        if (tensor.different > 0)
            tensors.push_back({ tensor.name, tensor.a.elements(), tensor.different });
    }
    const auto share = [](const ChangedTensorView& tensor) {
        return static_cast<double>(tensor.changed) / static_cast<double>(tensor.elements);
    };
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](const ChangedTensorView& a, const ChangedTensorView& b) { return share(a) > share(b); });
    if (tensors.size() > Most)
        tensors.resize(Most);
    return tensors;
}

RollBackView makeRollBackView(const RollBackPlan& plan)
{
    RollBackView view;
    view.from = plan.from;
    view.to = plan.to;
    view.step = plan.isDone ? plan.from : plan.step;
    view.evidence = word(plan.evidence);
    view.changedElements = plan.difference.elementsDifferent();
    view.totalElements = plan.difference.elementsCompared;
    view.changedTensors = plan.difference.tensorsDifferent();
    view.tensors = changedTensors(plan.difference);
    view.plan = makeActPlanView(plan.act);
    view.wasThere = plan.isDone;
    return view;
}

} // namespace

Result<RollBackView> rollBack(Workbench& bench, const RollBackRequest& request, const std::string& diffBackend,
                              TaskContext& task)
{
    DS_TRY(const ActSource source, openActSource(bench, request.version.source, !request.planHash.empty()));
    const ChooseVersion choose = [&](const Run& run) {
        return request.undo ? stateBeforeRollBack(bench, run, task)
                            : findVersion(bench, run, request.version.version, task);
    };
    RollBackView view;
    if (request.planHash.empty()) {
        DS_TRY(const RollBackPlan plan, planRollBack(bench, source.store, source.options, choose, task));
        view = makeRollBackView(plan);
    } else {
        const ActOptions how { request.planHash, actorOf(request.by), diffBackend };
        DS_TRY(RolledBack done, deltascope::rollBack(bench, source.store, source.options, choose, how, task));
        view.step = done.step;
        view.from = done.from;
        view.to = done.to;
        view.changedElements = done.changedElements;
        view.isDone = true;
        view.wasThere = done.wasThere;
        view.keys = std::move(done.keys);
    }
    view.source = source.store->uri();
    view.run = source.name;
    return view;
}

} // namespace deltascope::app
