#include "read_views.h"

namespace deltascope::app {

namespace {

ValuesView readValues(const json& from)
{
    ValuesView values;
    values.step = read<std::int64_t>(from, "step");
    values.zeros = read<std::uint64_t>(from, "zeros");
    values.nan = read<std::uint64_t>(from, "nan");
    values.positiveInfinite = read<std::uint64_t>(from, "positive_infinite");
    values.negativeInfinite = read<std::uint64_t>(from, "negative_infinite");
    values.finite = read<std::uint64_t>(from, "finite");
    values.min = readOptional<double>(from, "min");
    values.max = readOptional<double>(from, "max");
    values.mean = readOptional<double>(from, "mean");
    values.std = readOptional<double>(from, "std");
    values.norm = readOptional<double>(from, "norm");
    values.percentiles = readEach(from, "percentiles", [](const json& one) {
        return std::pair(read<double>(one, "percent"), read<double>(one, "value"));
    });
    return values;
}

HistogramView readHistogram(const json& from)
{
    HistogramView histogram;
    histogram.edges = readList<double>(from, "edges");
    histogram.a = readList<std::uint64_t>(from, "a");
    histogram.b = readList<std::uint64_t>(from, "b");
    const std::size_t bins = histogram.edges.empty() ? 0 : histogram.edges.size() - 1;
    if (histogram.b.size() != bins || (!histogram.a.empty() && histogram.a.size() != bins))
        throw Unfit { "\"edges\" is not of the bins" };
    return histogram;
}

ValuesMovedView readMoved(const json& from)
{
    ValuesMovedView moved;
    moved.changed = read<std::uint64_t>(from, "changed");
    moved.signFlips = read<std::uint64_t>(from, "sign_flips");
    moved.nanInvolved = read<std::uint64_t>(from, "nan_involved");
    moved.maxAbs = readOptional<double>(from, "max_abs");
    moved.norm = readOptional<double>(from, "norm").value_or(0); // JSON knows no infinity
    moved.relativeNorm = readOptional<double>(from, "relative_norm");
    moved.ulp = readEach(from, "ulp", [](const json& one) {
        return std::pair(read<std::uint64_t>(one, "up_to"), read<std::uint64_t>(one, "count"));
    });
    return moved;
}

}

StatisticsView readStatistics(const json& from)
{
    StatisticsView view;
    view.tensor = read<std::string>(from, "tensor");
    view.dtype = read<std::string>(from, "dtype");
    view.shape = readList<std::uint64_t>(from, "shape");
    view.elements = read<std::uint64_t>(from, "elements");
    view.b = readValues(fieldOf(from, "b"));
    if (const json& a = fieldOf(from, "a"); !a.is_null())
        view.a = readValues(a);
    view.linear = readHistogram(fieldOf(from, "linear"));
    view.logarithmic = readHistogram(fieldOf(from, "logarithmic"));
    if (const json& moved = fieldOf(from, "moved"); !moved.is_null())
        view.moved = readMoved(moved);
    view.seconds = read<double>(from, "seconds");
    return view;
}

StatisticsHistoryView readStatisticsHistory(const json& from)
{
    return { read<std::string>(from, "tensor"), read<std::string>(from, "dtype"), readEach(from, "steps", readValues),
             read<double>(from, "seconds") };
}

StatisticsCostView readStatisticsCost(const json& from)
{
    return { read<std::uint64_t>(from, "read_bytes"), read<std::uint64_t>(from, "tensor_bytes"),
             read<std::uint32_t>(from, "steps") };
}

} // namespace deltascope::app
