#include "histogram_bins.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deltascope {

std::vector<double> linearEdges(double least, double most)
{
    if (least == most)
        return { least, most };
    std::vector<double> edges { least };
    constexpr auto Bins = static_cast<double>(Histogram::Bins);
    for (double i = 1; i < Bins; ++i)
        edges.push_back(least * ((Bins - i) / Bins) + most * (i / Bins));
    edges.push_back(most);
    return edges;
}

std::size_t binOf(const std::vector<double>& edges, double value)
{
    const std::size_t bins = edges.size() - 1;
    // Halves, because the distance of two doubles may be none; then what the edges themselves say.
    const double place =
        (value / 2 - edges.front() / 2) / (edges.back() / 2 - edges.front() / 2) * static_cast<double>(bins);
    std::size_t bin = place > 0 ? static_cast<std::size_t>(std::min(place, static_cast<double>(bins - 1))) : 0;
    while (bin > 0 && value < edges[bin])
        --bin;
    while (bin + 1 < bins && value >= edges[bin + 1])
        ++bin;
    return bin;
}

void PowerCounts::add(double value, std::uint64_t count)
{
    if (value != 0)
        m_counts[static_cast<std::size_t>(std::ilogb(value) - Lowest)] += count;
}

std::vector<std::uint64_t> PowerCounts::inBins(int first, std::size_t bins) const
{
    std::vector<std::uint64_t> out(bins);
    for (int power = Lowest; power <= Highest; ++power) {
        const std::uint64_t count = m_counts[static_cast<std::size_t>(power - Lowest)];
        if (count > 0)
            out[static_cast<std::size_t>(std::max(power - first, 0))] += count;
    }
    return out;
}

Histogram PowerCounts::histogram(const PowerCounts* a, const PowerCounts& b)
{
    int first = Highest + 1;
    int last = Lowest - 1;
    for (const PowerCounts* counts : { a, &b }) {
        for (int power = Lowest; counts && power <= Highest; ++power) {
            if (counts->m_counts[static_cast<std::size_t>(power - Lowest)] > 0) {
                first = std::min(first, power);
                last = std::max(last, power);
            }
        }
    }
    Histogram out;
    if (first > last)
        return out;
    constexpr int Most = Histogram::Bins;
    const bool open = last - first >= Most;
    if (open)
        first = last - Most + 1;
    for (int power = first; power <= last + 1; ++power)
        out.edges.push_back(power > Highest ? std::numeric_limits<double>::max() : std::ldexp(1.0, power));
    if (open)
        out.edges.front() = 0;
    const auto bins = static_cast<std::size_t>(last - first + 1);
    out.b = b.inBins(first, bins);
    if (a)
        out.a = a->inBins(first, bins);
    return out;
}

} // namespace deltascope
