#include "act_plan_view.h"

#include "view/make_views.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

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

PlannedReadView makePlannedReadView(const Run& run, const ActPlan& plan)
{
    return { run.store->uri(), std::filesystem::path(run.store->uri()).filename().string(), makeActPlanView(plan) };
}

} // namespace deltascope::app
