#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"

namespace deltascope::app {

namespace {

ordered_json json(const ValuesView& values)
{
    ordered_json percentiles = ordered_json::array();
    for (const auto& [percent, value] : values.percentiles)
        percentiles.push_back({ { "percent", percent }, { "value", value } });
    return { { "step", values.step },
             { "zeros", values.zeros },
             { "nan", values.nan },
             { "positive_infinite", values.positiveInfinite },
             { "negative_infinite", values.negativeInfinite },
             { "finite", values.finite },
             { "min", orNull(values.min) },
             { "max", orNull(values.max) },
             { "mean", orNull(values.mean) },
             { "std", orNull(values.std) },
             { "norm", orNull(values.norm) },
             { "percentiles", std::move(percentiles) } };
}

ordered_json json(const HistogramView& histogram)
{
    return { { "edges", histogram.edges }, { "a", histogram.a }, { "b", histogram.b } };
}

ordered_json json(const ValuesMovedView& moved)
{
    ordered_json ulp = ordered_json::array();
    for (const auto& [upTo, count] : moved.ulp)
        ulp.push_back({ { "up_to", upTo }, { "count", count } });
    return { { "changed", moved.changed },
             { "sign_flips", moved.signFlips },
             { "nan_involved", moved.nanInvolved },
             { "max_abs", orNull(moved.maxAbs) },
             { "norm", moved.norm },
             { "relative_norm", orNull(moved.relativeNorm) },
             { "ulp", std::move(ulp) } };
}

}

std::string toJson(const StatisticsView& view)
{
    return dump({ { "tensor", view.tensor },
                  { "dtype", view.dtype },
                  { "shape", view.shape },
                  { "elements", view.elements },
                  { "b", json(view.b) },
                  { "a", view.a ? json(*view.a) : ordered_json(nullptr) },
                  { "linear", json(view.linear) },
                  { "logarithmic", json(view.logarithmic) },
                  { "moved", view.moved ? json(*view.moved) : ordered_json(nullptr) },
                  { "seconds", view.seconds } });
}

std::string toJson(const StatisticsHistoryView& view)
{
    ordered_json steps = ordered_json::array();
    for (const ValuesView& values : view.steps)
        steps.push_back(json(values));
    return dump({ { "tensor", view.tensor },
                  { "dtype", view.dtype },
                  { "steps", std::move(steps) },
                  { "seconds", view.seconds } });
}

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

std::string toJson(const StatisticsCostView& view)
{
    return dump({ { "read_bytes", view.readBytes }, { "tensor_bytes", view.tensorBytes }, { "steps", view.steps } });
}

} // namespace deltascope::app
