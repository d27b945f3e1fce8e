#include "deltascope/app/view/dashboard_json.h"

#include "heat_description.h"
#include "json_parts.h"

#include <fmt/format.h>
#include <iterator>
#include <map>

namespace deltascope::app {

std::string tensorsToJson(const HeatView& heat, int epoch)
{
    std::string text = fmt::format(R"({{"rev":{},"epoch":{},"tensors":[)", heat.revision, epoch);
    // as text: of a tree of tens of thousands most is overhead
    for (std::size_t row = 0; row < heat.rows.size(); ++row) {
        const TensorRowView& tensor = heat.rows[row];
        fmt::format_to(std::back_inserter(text),
                       R"({}{{"id":{},"name":{},"dtype":{},"shape":[{}],"elements":{},"group":{},"changed_elems":{},)"
                       R"("last_changed":{}}})",
                       row > 0 ? "," : "", row, dumpText(tensor.name), dumpText(tensor.dtype),
                       fmt::join(tensor.shape, ","), tensor.elements, dumpText(tensor.group), tensor.changedElements,
                       tensor.lastChanged ? std::to_string(*tensor.lastChanged) : "null");
    }
    return text + "]}";
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

std::string toJson(const SeriesView& view)
{
    ordered_json series = ordered_json::object();
    for (const auto& [name, columns] : view.series)
        series[name] = { { "x", columns.x },
                         { "first", columns.first },
                         { "min", columns.min },
                         { "max", columns.max },
                         { "last", columns.last } };
    return dump({ { "rev", view.revision },
                  { "epoch", view.epoch },
                  { "from", view.from },
                  { "to", view.to },
                  { "points", view.points },
                  { "series", std::move(series) },
                  { "anchors", view.anchors } });
}

} // namespace deltascope::app
