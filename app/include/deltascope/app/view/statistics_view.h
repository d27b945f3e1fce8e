#pragma once

#include "deltascope/app/view/reads_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

// What the values of one tensor are, and how far they moved between two steps. Every number is exact but for the
// rounding of sums in double precision.

/// Values of a tensor at one step. Everything that is optional is over the finite values and missing without one.
struct ValuesView {
    std::int64_t step = 0;
    std::uint64_t zeros = 0, nan = 0, positiveInfinite = 0, negativeInfinite = 0, finite = 0;
    std::optional<double> min, max, mean, std; ///< std: of all values, not of a sample
    std::optional<double> norm; ///< L2
    /// Percent and value: the least value that so many percent do not exceed. Empty or p0.1, p1, p50, p99, p99.9.
    std::vector<std::pair<double, double>> percentiles;
};

/// Finite values of both steps in the same bins.
struct HistogramView {
    std::vector<double> edges; ///< one more than bins; empty without a value to count
    std::vector<std::uint64_t> a, b; ///< a is empty without a step to compare with
};

/// How B differs from A.
struct ValuesMovedView {
    std::uint64_t changed = 0; ///< elements whose bits differ
    std::uint64_t signFlips = 0;
    std::uint64_t nanInvolved = 0; ///< of the changed ones; they count in nothing below
    std::optional<double> maxAbs; ///< over changed elements with finite values; nothing without one
    double norm = 0; ///< L2 of B − A over elements with finite values
    std::optional<double> relativeNorm; ///< over that of A; nothing as in a diff
    /// Distance in representable values and elements with it: 1, 2, up to 4, up to 8 and so on.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ulp;
};

struct StatisticsView {
    std::string tensor;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t elements = 0;
    ValuesView b;
    std::optional<ValuesView> a; ///< nothing: there is no state before, or it has another dtype or shape
    HistogramView linear; ///< equal bins from the least to the largest value
    /// Sizes of values other than zero, a bin for each power of two; a first edge of 0 collects all smaller ones.
    HistogramView logarithmic;
    std::optional<ValuesMovedView> moved; ///< with a
    ReadsView reads; ///< of both steps
    double seconds = 0;
};

/// Steps whose values could not be read.
struct UnreadStepsView {
    std::int64_t first = 0, last = 0;
    std::string why;
};

/// Values of a tensor at several steps, ascending.
struct StatisticsHistoryView {
    std::string tensor;
    std::string dtype;
    std::vector<ValuesView> steps;
    std::vector<UnreadStepsView> unread; ///< ascending
    ReadsView reads; ///< of the steps that were read
    double seconds = 0;
};

/// A step at which something was seen for the first time.
struct FirstView {
    std::optional<std::int64_t> step; ///< nothing: at none of the steps that were read
    /// Every step before it was read, or, where it was seen at none, all of them were.
    bool certain = false;
};

/// Since when a tensor is another one than it was at the begin of its epoch, and since when it holds NaN.
struct TensorFirstsView {
    std::string tensor;
    std::string dtype;
    int epoch = 0;
    std::int64_t begin = 0; ///< the first step of the epoch; what stands there, or in the base, is what it began as
    std::int64_t end = 0; ///< the step up to which was looked
    bool onBase = false; ///< the epoch begins with a delta on a base from outside, which was read before its first step
    std::uint32_t stepsRead = 0;
    std::uint32_t stepsInAll = 0; ///< up to `end`; behind the chain that answers the last question none is read
    FirstView changed;
    std::optional<FirstView> nan; ///< nothing where elements of this type stand for no single numbers
    bool nanInBase = false;
    std::vector<UnreadStepsView> unread; ///< ascending
    ReadsView reads; ///< of the steps that were read
    double seconds = 0;
};

/// What statistics would read.
struct StatisticsCostView {
    std::uint64_t readBytes = 0; ///< payload that is read from the source
    std::uint64_t tensorBytes = 0; ///< of the tensor at one step
    std::uint32_t steps = 0; ///< steps whose values would be told
};

} // namespace deltascope::app
