#pragma once

#include "deltascope/engine/statistics.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// Edges of equal bins from `least` to `most`; of one bin where both are the same.
std::vector<double> linearEdges(double least, double most);
/// The bin of a value that lies between the edges; a value on an edge belongs above it.
std::size_t binOf(const std::vector<double>& edges, double value);

/// Counts of absolute values by the exponent of two, without zeros.
class PowerCounts {
public:
    void add(double value, std::uint64_t count);
    /// The bins of both, and what is in them. `a` may be null.
    static Histogram histogram(const PowerCounts* a, const PowerCounts& b);

private:
    static constexpr int Lowest = -1074; ///< of a double
    static constexpr int Highest = 1023;

    std::vector<std::uint64_t> inBins(int first, std::size_t bins) const;

    std::vector<std::uint64_t> m_counts = std::vector<std::uint64_t>(Highest - Lowest + 1);
};

} // namespace deltascope
