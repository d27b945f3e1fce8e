#include "make_views.h"

#include <algorithm>
#include <cmath>

namespace deltascope::app {

namespace {

std::uint64_t wholeBytes(double bytes)
{
    constexpr double Most = 1.8e19; // just below 2^64
    return static_cast<std::uint64_t>(std::round(std::clamp(bytes, 0.0, Most)));
}

std::optional<std::uint64_t> wholeBytes(const std::optional<double>& bytes)
{
    return bytes ? std::optional(wholeBytes(*bytes)) : std::nullopt;
}

AssumedView assumedView(const CostAssumption& number) { return { number.value, number.assumed }; }

std::optional<CostRowView> rowView(const std::optional<CostRow>& row)
{
    if (!row)
        return std::nullopt;
    return CostRowView { wholeBytes(row->bytes), row->money,        row->linkSeconds, wholeBytes(row->bytesPerDay),
                         row->moneyPerDay,       row->timesSmaller, row->requests };
}

CadenceView cadenceView(const CadenceRow& row)
{
    return { row.every,
             row.own,
             row.recommended,
             wholeBytes(row.publishedPerDay),
             wholeBytes(row.restoreBytes),
             row.restoreSeconds,
             wholeBytes(row.bytesPerDay),
             row.moneyPerDay };
}

}

CostView makeCostView(const Run& run, const CostReport& report, const std::optional<ChangePrediction>& prediction)
{
    const CostInputs& inputs = report.inputs;
    CostView view;
    view.source = run.store->uri();
    view.layout = run.layout->word();
    view.epoch = inputs.epoch;
    view.epochs = run.epochs();
    view.versions = inputs.versions;
    view.anchors = inputs.anchors;
    view.deltas = inputs.deltas;
    view.broken = inputs.broken;
    view.baseOutside = inputs.baseOutside;
    view.pricePerGb = assumedView(report.pricePerGb);
    view.pricePerThousandRequests = assumedView(report.pricePerThousandRequests);
    view.linkGbps = assumedView(report.linkGbps);
    view.restoresPerDay = assumedView(report.restoresPerDay);
    view.stepsPerDay = report.stepsPerDay;
    view.stepsPerDayGiven = report.stepsPerDayGiven;
    view.secondsPerStep = inputs.secondsPerStep;
    view.delta = rowView(report.delta);
    view.published = rowView(report.published);
    view.full = rowView(report.full);
    view.fullIsBase = inputs.fullIsBase;
    view.restoreBytes = inputs.restoreBytes;
    view.restoreDeltas = inputs.restoreDeltas;
    view.restoreEpoch = inputs.restoreEpoch;
    view.restoreStep = inputs.restoreStep;
    view.restoreIsNewest = inputs.restoreIsNewest;
    view.restoreSeconds = report.restoreSeconds;
    for (const CadenceRow& row : report.cadences)
        view.cadences.push_back(cadenceView(row));
    view.ownCadence = inputs.cadence;
    view.recommendedCadence = report.recommended;
    view.recommendation = report.recommendation;
    view.changedFraction = inputs.changedFraction;
    view.replayedDeltas = inputs.replayedDeltas;
    if (prediction)
        view.prediction =
            PredictionView { prediction->learningRate, prediction->fraction,        prediction->sigma,
                             prediction->elements,     prediction->elementsOutside, prediction->sampledBytes };
    return view;
}

} // namespace deltascope::app
