#pragma once

#include "deltascope/engine/operations.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

// What the values of one tensor are, and how far they moved between two states. Counts, extremes and percentiles are
// exact; sums run in double precision in one order, so that the result is the same everywhere: with compensation, or,
// of differences, in that of Backend::moments(), as in a diff. Memory does not depend on the size of the tensor: types
// of up to 16 bits are read once and counted by bit pattern, wider ones are read once for each 16 bits and counted by
// ever longer prefixes of their place in the order of values.

namespace deltascope {

/// Everything optional is over the finite values; nothing without one.
struct ValueStatistics {
    static constexpr std::array<unsigned, 5> PerMille = { 1, 10, 500, 990, 999 };

    std::uint64_t finite = 0;
    std::uint64_t zeros = 0; ///< of both signs
    std::uint64_t nan = 0, positiveInfinite = 0, negativeInfinite = 0;
    std::optional<double> min, max;
    std::optional<double> mean, std; ///< std: over all values, not a sample
    std::optional<double> norm; ///< L2
    /// The least value that so many do not exceed.
    std::array<std::optional<double>, PerMille.size()> percentiles;
};

/// Values of two states in the same bins.
struct Histogram {
    static constexpr std::size_t Bins = 64;

    std::vector<double> edges; ///< one more than bins; empty without a value to count
    std::vector<std::uint64_t> a, b; ///< a is empty without a second state
};

/// How two states differ, element by element.
struct ValuesMoved {
    std::uint64_t different = 0; ///< bits
    std::uint64_t signFlips = 0;
    std::uint64_t nanInvolved = 0; ///< of those that differ; they count in nothing below
    std::optional<double> maxAbs; ///< over those that differ and are finite; infinite where F64 has no such number
    double norm = 0; ///< L2 of the difference, over elements that are finite in both
    std::optional<double> relativeNorm; ///< as TensorDiff::relativeNorm
    /// By the distance in representable values: 1, 2, up to 4, up to 8 … up to 2^i.
    std::vector<std::uint64_t> ulp;
};

struct TensorStatistics {
    TensorInfo tensor;
    ValueStatistics b;
    std::optional<ValueStatistics> a;
    Histogram linear; ///< equal bins from the least to the largest value
    /// Absolute values, zeros left out, a bin for each power of two; below the smallest of at most Bins, a first one
    /// from zero on.
    Histogram logarithmic;
    std::optional<ValuesMoved> moved; ///< with a
};

/// How often statistics read a tensor of this type. 0: its elements stand for no numbers.
unsigned statisticsPasses(Dtype dtype) noexcept;

/// Values of a tensor in state `b` and, if given, in state `a`, which must hold it with the same dtype and shape.
/// Errors: NotFound, Unsupported (types without numbers, another dtype or shape), Digest, those of the replay.
Result<TensorStatistics> statisticsOf(Workbench& bench, const State* a, const State& b, std::string_view tensor,
                                      TaskContext& task);

/// Values of a tensor behind some links of a chain, in one walk for all. Links at which it has another dtype or shape
/// than at the end are left out. Errors: as statisticsOf.
Result<std::map<std::size_t, ValueStatistics>> statisticsBehind(Workbench& bench, const PathState& chain,
                                                                const std::vector<std::size_t>& links,
                                                                std::string_view tensor, TaskContext& task);

/// What tells the states of a tensor apart without keeping them.
struct TensorMark {
    Digest128 digest {}; ///< XXH3 of all bytes: equal states, equal digest
    /// Elements. Nothing where elements stand for no single numbers (statisticsPasses()).
    std::optional<std::uint64_t> nan;

    bool operator==(const TensorMark&) const = default;
};

/// Marks of a tensor behind some links of a chain, in one walk for all that reads it once. A link that does not touch
/// the tensor costs nothing. Links at which it has another dtype or shape than at the end are left out. Errors: as
/// statisticsOf, but for Unsupported.
Result<std::map<std::size_t, TensorMark>> marksBehind(Workbench& bench, const PathState& chain,
                                                      const std::vector<std::size_t>& links, std::string_view tensor,
                                                      TaskContext& task);

struct StatisticsCost {
    TensorInfo tensor;
    std::uint64_t walkBytes = 0; ///< payload of the tensor in all versions on the way, read by every walk
    std::uint64_t checkBytes =
        0; ///< all of the versions that record digests of their payload: those are compared first

    /// Of statistics, which walk it as often as its type needs.
    std::uint64_t readBytes() const noexcept { return statisticsPasses(tensor.dtype) * walkBytes + checkBytes; }
};
/// What the statistics of one state, or of states behind links of its plan, would read. Reads headers alone. Errors:
/// NotFound (no such tensor), Unsupported, those of Layout::index.
Result<StatisticsCost> costOfStatistics(const Run& run, const Plan& plan, std::string_view tensor, TaskContext& task);

} // namespace deltascope
