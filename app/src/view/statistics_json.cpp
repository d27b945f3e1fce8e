#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "statistics_description.h"

namespace deltascope::app {

std::string toJson(const StatisticsView& view) { return dump(written(view)); }

std::string toJson(const StatisticsHistoryView& view) { return dump(written(view)); }

std::string toJson(const TensorFirstsView& view)
{
    const auto first = [](const FirstView& seen) {
        return ordered_json { { "step", orNull(seen.step) }, { "certain", seen.certain } };
    };
    ordered_json unread = ordered_json::array();
    for (const UnreadStepsView& steps : view.unread)
        unread.push_back({ { "first", steps.first }, { "last", steps.last }, { "why", steps.why } });
    return dump({ { "tensor", view.tensor },
                  { "dtype", view.dtype },
                  { "epoch", view.epoch },
                  { "begin", view.begin },
                  { "end", view.end },
                  { "on_base", view.onBase },
                  { "steps_read", view.stepsRead },
                  { "steps_in_all", view.stepsInAll },
                  { "first_changed", first(view.changed) },
                  { "first_nan", view.nan ? first(*view.nan) : ordered_json(nullptr) },
                  { "nan_in_base", view.nanInBase },
                  { "unread", std::move(unread) },
                  { "seconds", view.seconds } });
}

std::string toJson(const StatisticsCostView& view) { return dump(written(view)); }

} // namespace deltascope::app
