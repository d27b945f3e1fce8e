#pragma once

#include "deltascope/app/view/cost_view.h"

#include "io/forms.h"
#include "problem_description.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const CostRowView& row)
{
    io.type("CostRow", "What is moved once per step.");
    io("bytes", row.bytes);
    io("requests", row.requests, "to read it; a mean");
    io("price", row.price);
    io("link_seconds", row.linkSeconds);
    io("bytes_per_day", row.bytesPerDay);
    io("price_per_day", row.pricePerDay);
    io("times_smaller", row.timesSmaller, "how many of it a full sync weighs");
}

template <class Io> void describe(Io& io, const CadenceView& cadence)
{
    io.type("Cadence", "What it would cost to publish a complete state every so many steps.");
    io("every", cadence.every, "steps");
    io("own", cadence.own, "the cadence of the run");
    io("recommended", cadence.recommended);
    io("published_bytes_per_day", cadence.publishedBytesPerDay);
    io("restore_bytes", cadence.restoreBytes, "mean of one restore");
    io("restore_link_seconds", cadence.restoreSeconds);
    io("bytes_per_day", cadence.bytesPerDay, "published and read by restores");
    io("price_per_day", cadence.pricePerDay);
}

template <class Io> void describe(Io& io, const PredictionView& prediction)
{
    io.type("Prediction", "The share of weights that one step changes, by learning rate and a sample of the weights.");
    io("learning_rate", prediction.learningRate);
    io("changed_frac", prediction.fraction, "null: no sampled tensor lies in the range of the formula");
    io("sigma", prediction.sigma, "standard deviation of the weights; null: none could be sampled");
    io("elements", prediction.elements, "of the tensors that the share is about");
    io("elements_outside", prediction.elementsOutside, "of sampled tensors outside of the range");
    io("sampled_bytes", prediction.sampledBytes);
}

struct NewestRestoreView {
    int epoch = 0;
    std::int64_t step = 0;
    std::uint64_t deltas = 0;
    std::uint64_t bytes = 0;
    std::optional<double> linkSeconds;
};

template <class Io> void describe(Io& io, const NewestRestoreView& restore)
{
    io.type("NewestRestore", "What it takes to rebuild the newest restorable step.");
    io("epoch", restore.epoch);
    io("step", restore.step);
    io("deltas", restore.deltas);
    io("bytes", restore.bytes);
    io("link_seconds", restore.linkSeconds);
}

template <class Io> void describe(Io& io, const CostView& cost)
{
    std::optional<NewestRestoreView> newest;
    if (cost.restoreBytes)
        newest = { cost.restoreEpoch, cost.restoreStep, cost.restoreDeltas, *cost.restoreBytes, cost.restoreSeconds };
    io.type("Cost", "What the newest epoch of a run costs. Money is in the unit of the price.");
    io("source", cost.source, "URI");
    io("layout", cost.layout);
    io("epoch", cost.epoch);
    io("versions", cost.versions, "whole ones");
    io("anchors", cost.anchors);
    io("deltas", cost.deltas);
    io("broken", cost.broken, "left out: unreadable, or proven damaged");
    io("price_per_gb", cost.pricePerGb.value);
    io("price_assumed", cost.pricePerGb.assumed);
    io("price_per_1000_requests", cost.pricePerThousandRequests.value);
    io("link_gbps", cost.linkGbps.value);
    io("link_assumed", cost.linkGbps.assumed);
    io("restores_per_day", cost.restoresPerDay.value);
    io("restores_assumed", cost.restoresPerDay.assumed);
    io("steps_per_day", cost.stepsPerDay);
    io("steps_given", cost.stepsPerDayGiven, "false: from publication times");
    io("seconds_per_step", cost.secondsPerStep, "from publication times");
    io("delta", cost.delta, "a mean one");
    io("published", cost.published, "mean of everything that was published");
    io("full_sync", cost.full);
    io("full_sync_is_base", cost.fullIsBase, "it is as large as the external base");
    io("newest_restore", newest);
    io("cadences", cost.cadences, "ascending");
    io("own_cadence", cost.ownCadence);
    io("recommended_cadence", cost.recommendedCadence);
    io("recommendation", cost.recommendation);
    io("observed_changed_frac", cost.changedFraction, "median over deltas");
    io("observed_deltas", cost.replayedDeltas, "that it is the median of");
    io("prediction", cost.prediction);
    io("problems", cost.problems, "what the records say against objects that are counted");
}

} // namespace deltascope::app
