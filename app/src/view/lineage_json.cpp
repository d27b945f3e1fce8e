#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "step_description.h"

namespace deltascope::app {

namespace {

ordered_json json(const LineageRowView& row)
{
    const StepView& step = *row.step;
    ordered_json forms = ordered_json::array();
    for (const LineageFormView& form : row.forms)
        forms.push_back({ { "complete", form.complete },
                          { "base", orNull(form.base) },
                          { "used", form.isUsed },
                          { "usable", form.isUsable } });
    const bool gap = step.state == "gap";
    ordered_json out = { { "epoch", step.epoch },
                         { "step", step.step },
                         { "kind", step.kind },
                         { "state", step.state },
                         { "lane", row.lane },
                         { "base", orNull(row.base) },
                         { "chain", row.chain },
                         { "published_at", gap ? ordered_json(nullptr) : ordered_json(step.publishedUs) },
                         { "last_step", gap ? ordered_json(step.lastMissing) : ordered_json(nullptr) },
                         { "wire_bytes", step.wireBytes },
                         { "changed_frac", orNull(step.changedFraction) },
                         { "restorable", step.restorable },
                         { "proven", step.proven },
                         { "verified", written(row.verified) },
                         { "restore", gap ? ordered_json(nullptr) : written(step.restore) },
                         { "forms", std::move(forms) },
                         { "problem", step.problems.empty() ? ordered_json(nullptr) : written(step.problems.front()) },
                         { "refs", row.refs },
                         { "surviving", row.lane == 0 || step.restorable } };
    if (step.restores)
        out["restores"] = *step.restores;
    if (!step.branchOf.empty())
        out["branch_of"] = step.branchOf;
    return out;
}

}

std::string stepToJson(const StepView& step, const std::optional<VerifiedView>& verified)
{
    return dump(written(CheckedStepView { step, verified }));
}

std::string toJson(const LineageView& view)
{
    ordered_json rows = ordered_json::array();
    for (const LineageRowView& row : view.rows)
        rows.push_back(json(row));
    return dump({ { "rev", view.snapshot->revision }, { "lanes", view.lanes }, { "rows", std::move(rows) } });
}

} // namespace deltascope::app
