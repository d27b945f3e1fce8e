#pragma once

#include "deltascope/app/view/statistics_view.h"

#include "io/forms.h"
#include "reads_description.h"

namespace deltascope::app {

inline constexpr PairKeys PercentileKeys { "Percentile", "percent", "value" };
inline constexpr PairKeys UlpCountKeys { "UlpCount", "up_to", "count" };

template <class Io> void describe(Io& io, Of<Io, ValuesView>& values)
{
    io.type("TensorValues", "Values of one tensor at one step; null: no finite value has it.");
    io("step", values.step);
    io("zeros", values.zeros);
    io("nan", values.nan);
    io("positive_infinite", values.positiveInfinite);
    io("negative_infinite", values.negativeInfinite);
    io("finite", values.finite);
    io("min", values.min);
    io("max", values.max);
    io("mean", values.mean);
    io("std", values.std, "of all values, not of a sample");
    io("norm", values.norm, "L2");
    io("percentiles", pairs(values.percentiles, PercentileKeys),
       "0.1, 1, 50, 99, 99.9: the least value that so many do not exceed");
}

template <class Io> void describe(Io& io, Of<Io, HistogramView>& histogram)
{
    io.type("Histogram", "Finite values of both steps in the same bins.");
    io("edges", histogram.edges, "one more than bins; empty without a value");
    io("a", histogram.a, "empty without a step to compare with");
    io("b", histogram.b);
    const std::size_t bins = histogram.edges.empty() ? 0 : histogram.edges.size() - 1;
    io.expect(histogram.b.size() == bins && (histogram.a.empty() || histogram.a.size() == bins),
              "\"edges\" is not of the bins");
}

template <class Io> void describe(Io& io, Of<Io, ValuesMovedView>& moved)
{
    io.type("ValuesMoved", "How b differs from a, element by element.");
    io("changed", moved.changed, "bits");
    io("sign_flips", moved.signFlips);
    io("nan_involved", moved.nanInvolved, "of the changed ones; in nothing below");
    io("max_abs", moved.maxAbs);
    io("norm", nullIfInfinite(moved.norm), "L2 of b - a; null: it is infinite");
    io("relative_norm", moved.relativeNorm,
       "over the norm of a; null: it has none, or no element that differs is finite");
    io("ulp", pairs(moved.ulp, UlpCountKeys), "by distance in representable values: 1, 2, up to 4, up to 8 …");
}

template <class Io> void describe(Io& io, Of<Io, StatisticsView>& statistics)
{
    io.type("Statistics", "Of one tensor at two steps.");
    io("tensor", statistics.tensor);
    io("dtype", statistics.dtype);
    io("shape", statistics.shape);
    io("elements", statistics.elements);
    io("b", statistics.b);
    io("a", statistics.a, "null: no state before, or of another form");
    io("linear", statistics.linear);
    io("logarithmic", statistics.logarithmic, "absolute values other than zero, a bin per power of two");
    io("moved", statistics.moved, "with a");
    describeReads(io, statistics.reads);
    io("seconds", statistics.seconds);
}

template <class Io> void describe(Io& io, Of<Io, UnreadStepsView>& steps)
{
    io.type("UnreadSteps", "Steps whose values could not be read.");
    io("first", steps.first);
    io("last", steps.last);
    io("why", steps.why);
}

template <class Io> void describe(Io& io, Of<Io, StatisticsHistoryView>& history)
{
    io.type("StatisticsHistory", "Of one tensor at the last steps up to one.");
    io("tensor", history.tensor);
    io("dtype", history.dtype);
    io("steps", history.steps, "ascending");
    io("unread", history.unread, "ascending");
    describeReads(io, history.reads);
    io("seconds", history.seconds);
}

template <class Io> void describe(Io& io, Of<Io, FirstView>& first)
{
    io.type("FirstSeen", "A step at which something was seen for the first time.");
    io("step", first.step, "null: at none of the steps that were read");
    io("certain", first.certain, "every step before it was read, or, with null, all of them");
}

template <class Io> void describe(Io& io, Of<Io, TensorFirstsView>& firsts)
{
    io.type("TensorFirsts",
            "Since when a tensor is another one than at the begin of its epoch, and since when it holds NaN.");
    io("tensor", firsts.tensor);
    io("dtype", firsts.dtype);
    io("epoch", firsts.epoch);
    io("begin", firsts.begin, "first step of the epoch");
    io("end", firsts.end, "step up to which was looked");
    io("on_base", firsts.onBase, "the epoch begins with a delta on an external base");
    io("steps_read", firsts.stepsRead);
    io("steps_in_all", firsts.stepsInAll, "up to `end`");
    io("first_changed", firsts.changed);
    io("first_nan", firsts.nan, "null: elements of this type are no single numbers");
    io("nan_in_base", firsts.nanInBase);
    io("unread", firsts.unread, "ascending");
    describeReads(io, firsts.reads);
    io("seconds", firsts.seconds);
}

template <class Io> void describe(Io& io, Of<Io, StatisticsCostView>& cost)
{
    io.type("StatisticsCost", "What statistics would read.");
    io("read_bytes", cost.readBytes, "payload");
    io("tensor_bytes", cost.tensorBytes, "at one step");
    io("steps", cost.steps, "whose values would be shown");
}

} // namespace deltascope::app
