#include "deltascope/app/view/lineage_view.h"

#include <algorithm>
#include <map>

namespace deltascope::app {

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
            if (step.state != "gap")
                row.verified = verifiedOf(view.snapshot->verified, step);
            if (step.baseStep && step.kind != "anchor") {
                if (const auto base = oldestFirst.find({ step.epoch, *step.baseStep }); base != oldestFirst.end())
                    row.base = base->second;
            }
            if (step.state != "gap")
                oldestFirst[{ step.epoch, step.step }] = view.rows.size();
            view.rows.push_back(std::move(row));
        }
    }
    if (run->latest && !run->epochs.empty()) {
        const auto latest = oldestFirst.find({ run->epochs.back().epoch, *run->latest });
        if (latest != oldestFirst.end())
            view.rows[latest->second].refs.emplace_back("latest");
    }
    std::reverse(view.rows.begin(), view.rows.end());
    for (LineageRowView& row : view.rows) {
        if (row.base)
            row.base = view.rows.size() - 1 - *row.base;
    }
    return view;
}

} // namespace deltascope::app
