#include "deltascope/app/view/lineage_view.h"

#include "newest_restorable.h"

#include <algorithm>
#include <map>

namespace deltascope::app {

namespace {

/// The step on which the way builds that a step is rebuilt by; nothing for a complete state.
std::optional<std::int64_t> rebuiltOn(const StepView& step)
{
    const auto used =
        std::find_if(step.forms.begin(), step.forms.end(), [](const FormView& form) { return form.isUsed; });
    if (used != step.forms.end())
        return used->baseStep;
    return step.kind == "anchor" ? std::nullopt : step.baseStep;
}

}

LineageView makeLineage(std::shared_ptr<const RunSnapshot> snapshot)
{
    LineageView view;
    view.snapshot = std::move(snapshot);
    const std::shared_ptr<const RunView>& run = view.snapshot->run;
    if (!run)
        return view;
    view.lanes = static_cast<int>(run->epochs.size());
    std::size_t chain = 0;
    std::map<std::pair<int, std::int64_t>, std::size_t> oldestFirst;
    for (const EpochView& epoch : run->epochs) {
        ++chain;
        for (const StepView& step : epoch.steps) {
            LineageRowView row;
            row.step = &step;
            row.lane = view.lanes - 1 - static_cast<int>(&epoch - run->epochs.data());
            if (step.kind == "anchor")
                ++chain;
            row.chain = chain;
            row.refs = step.refs;
            if (step.state != "gap")
                row.verified = verifiedOf(view.snapshot->verified, step);
            const auto rowOf = [&](std::optional<std::int64_t> base) -> std::optional<std::size_t> {
                const auto found = base ? oldestFirst.find({ step.epoch, *base }) : oldestFirst.end();
                return found == oldestFirst.end() ? std::nullopt : std::optional(found->second);
            };
            row.base = rowOf(rebuiltOn(step));
            for (const FormView& form : step.forms) {
                if (!form.isCopy)
                    row.forms.push_back(
                        { !form.baseStep, rowOf(form.baseStep), form.isUsed, form.restore.reason.empty() });
            }
            if (row.forms.size() < 2)
                row.forms.clear();
            if (step.state != "gap")
                oldestFirst[{ step.epoch, step.step }] = view.rows.size();
            view.rows.push_back(std::move(row));
        }
    }
    if (const StepView* newest = newestRestorable(*run)) {
        const auto latest = oldestFirst.find({ newest->epoch, newest->step });
        if (latest != oldestFirst.end())
            view.rows[latest->second].refs.emplace(view.rows[latest->second].refs.begin(), "latest");
    }
    std::reverse(view.rows.begin(), view.rows.end());
    const auto turn = [&](std::optional<std::size_t>& base) {
        if (base)
            base = view.rows.size() - 1 - *base;
    };
    for (LineageRowView& row : view.rows) {
        turn(row.base);
        for (LineageFormView& form : row.forms)
            turn(form.base);
    }
    return view;
}

} // namespace deltascope::app
