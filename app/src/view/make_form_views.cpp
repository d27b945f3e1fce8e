#include "view/make_views.h"

namespace deltascope::app {

namespace {

std::optional<std::int64_t> baseStepOf(const Version& version, std::size_t form)
{
    return form == 0 ? version.baseStep : version.otherForms[form - 1].baseStep;
}

FormView makeFormView(const Version& version, std::size_t form, const Planner& planner)
{
    const VersionObjects& objects = version.objectsOf(form);
    FormView view;
    view.name = objects.name;
    view.kind = word(version.kindOf(form));
    view.baseStep = baseStepOf(version, form);
    view.wireBytes = objects.wireBytes();
    view.isTrained = form > 0 && version.fullForm() == form && version.fullFormDiffers().value_or(0) > 0;
    view.isCopy = version.originalOf(form).has_value();
    if (const Result<Plan> plan = planner.planOver(version, form)) {
        view.restore.deltas = plan->deltas();
        view.restore.bytes = plan->readBytes;
        view.evidence = word(plan->weakest);
    } else {
        view.restore.reason = plan.error().text;
        view.evidence = word(Evidence::None);
    }
    return view;
}

}

std::vector<FormView> makeFormViews(const Version& version, const Planner& planner)
{
    std::vector<FormView> views;
    for (std::size_t form = 0; form < version.forms(); ++form)
        views.push_back(makeFormView(version, form, planner));
    if (const Result<Plan> plan = planner.planFor(version); plan && !plan->links.empty())
        views[plan->links.back().form].isUsed = true;
    return views;
}

} // namespace deltascope::app
