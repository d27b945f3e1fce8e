#include "make_views.h"

#include <limits>

namespace deltascope::app {

namespace {

HistogramView makeHistogramView(const Histogram& histogram) { return { histogram.edges, histogram.a, histogram.b }; }

ValuesMovedView makeMovedView(const ValuesMoved& moved)
{
    ValuesMovedView view;
    view.changed = moved.different;
    view.signFlips = moved.signFlips;
    view.nanInvolved = moved.nanInvolved;
    view.maxAbs = moved.maxAbs;
    view.norm = moved.norm;
    view.relativeNorm = moved.relativeNorm;
    for (std::size_t i = 0; i < moved.ulp.size(); ++i)
        view.ulp.emplace_back(i < 64 ? std::uint64_t { 1 } << i : std::numeric_limits<std::uint64_t>::max(),
                              moved.ulp[i]);
    return view;
}

}

ValuesView makeValuesView(std::int64_t step, const ValueStatistics& values)
{
    ValuesView view;
    view.step = step;
    view.zeros = values.zeros;
    view.nan = values.nan;
    view.positiveInfinite = values.positiveInfinite;
    view.negativeInfinite = values.negativeInfinite;
    view.finite = values.finite;
    view.min = values.min;
    view.max = values.max;
    view.mean = values.mean;
    view.std = values.std;
    view.norm = values.norm;
    for (std::size_t i = 0; i < values.percentiles.size(); ++i) {
        if (values.percentiles[i])
            view.percentiles.emplace_back(ValueStatistics::PerMille[i] / 10.0, *values.percentiles[i]);
    }
    return view;
}

StatisticsView makeStatisticsView(std::int64_t step, std::optional<std::int64_t> a, const TensorStatistics& statistics)
{
    StatisticsView view;
    view.tensor = statistics.tensor.name;
    view.dtype = word(statistics.tensor.dtype);
    view.shape = statistics.tensor.shape;
    view.elements = statistics.tensor.elements();
    view.b = makeValuesView(step, statistics.b);
    view.linear = makeHistogramView(statistics.linear);
    view.logarithmic = makeHistogramView(statistics.logarithmic);
    if (a && statistics.a && statistics.moved) {
        view.a = makeValuesView(*a, *statistics.a);
        view.moved = makeMovedView(*statistics.moved);
    }
    return view;
}

} // namespace deltascope::app
