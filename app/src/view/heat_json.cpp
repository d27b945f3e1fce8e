#include "deltascope/app/view/dashboard_json.h"

#include "heat_description.h"
#include "io/text_writer.h"
#include "series_description.h"

#include <map>

namespace deltascope::app {

std::string tensorsToJson(const HeatView& heat, int epoch)
{
    TensorTableView table { heat.revision, epoch, knownColumns(heat), {} };
    table.rows.reserve(heat.rows.size());
    for (const TensorRowView& tensor : heat.rows)
        table.rows.push_back({ table.rows.size(), tensor,
                               table.knownColumns == 0 ? std::nullopt : std::optional(tensor.changedElements) });
    return writtenText(table);
}

std::string heatIndexToJson(const HeatView& heat, const RunSnapshot& snapshot, int epoch)
{
    const auto [first, last] = heat.columnsOf(epoch);
    std::map<std::int64_t, std::optional<double>> pauses;
    for (const EpochView& view : snapshot.run->epochs) {
        for (const StepView& step : view.steps) {
            if (view.epoch == epoch && step.pauseMs)
                pauses[step.step] = step.pauseMs;
        }
    }
    HeatIndexView index { heat.revision, epoch, heat.rows.size(), {} };
    for (std::size_t at = first; at < last; ++at) {
        const HeatColumnView& column = heat.columns[at];
        const auto verified = snapshot.verified.find({ column.epoch, column.step });
        index.columns.push_back(
            { column, pauses[column.step],
              verified == snapshot.verified.end() ? std::nullopt : std::optional(verified->second.level) });
    }
    return dump(written(index));
}

std::string toJson(const SeriesView& view) { return dump(written(view)); }

} // namespace deltascope::app
