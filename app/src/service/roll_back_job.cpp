#include "roll_back_job.h"

#include "annotation_jobs.h"
#include "deltascope/engine/roll_back.h"
#include "opening.h"
#include "view/make_views.h"

#include <filesystem>

namespace deltascope::app {

namespace {

PlannedObjectView viewOf(const PlannedObject& object) { return { object.store, object.key, object.bytes }; }

std::vector<PlannedObjectView> viewsOf(const std::vector<PlannedObject>& objects)
{
    std::vector<PlannedObjectView> views;
    std::transform(objects.begin(), objects.end(), std::back_inserter(views), viewOf);
    return views;
}

std::vector<std::pair<std::string, std::string>> pairsOf(const std::vector<PlannedEffect>& effects)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const PlannedEffect& effect : effects)
        pairs.emplace_back(effect.fact, effect.value);
    return pairs;
}

ActPlanView makeActPlanView(const ActPlan& plan)
{
    ActPlanView view;
    view.kind = plan.kind;
    view.hash = plan.hash();
    view.reads = viewsOf(plan.reads);
    view.writes = viewsOf(plan.writes);
    view.deletes = viewsOf(plan.deletes);
    view.readBytes = plan.readBytes();
    view.beside = pairsOf(plan.beside);
    view.effects = pairsOf(plan.effects);
    for (const Error& warning : plan.warnings)
        view.warnings.push_back(problemView(warning));
    view.unknown = plan.unknown;
    view.undo = plan.undo;
    return view;
}

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
    const SourceRequest& source = request.version.source;
    DS_TRY(const std::shared_ptr<ObjectStore> store, bench.stores->open(source.source));
    OpenOptions options;
    options.layout = source.layout;
    DS_TRY(options.epochs, epochChoice(source.epochs));
    options.mirrors = source.mirrors;
    if (!source.base.isEmpty()) {
        DS_TRY(options.base, bench.stores->open(source.base));
    }
    const ChooseVersion choose = [&](const Run& run) {
        return request.undo ? stateBeforeRollBack(run) : findVersion(bench, run, request.version.version, task);
    };
    RollBackView view;
    if (request.planHash.empty()) {
        DS_TRY(const RollBackPlan plan, planRollBack(bench, store, options, choose, task));
        view = makeRollBackView(plan);
    } else {
        const RollBackOptions how { request.planHash, thisUser(), diffBackend };
        DS_TRY(RolledBack done, deltascope::rollBack(bench, store, options, choose, how, task));
        view.step = done.step;
        view.from = done.from;
        view.to = done.to;
        view.changedElements = done.changedElements;
        view.isDone = true;
        view.wasThere = done.wasThere;
        view.keys = std::move(done.keys);
    }
    view.source = store->uri();
    view.run = std::filesystem::path(view.source).filename().string();
    return view;
}

} // namespace deltascope::app
