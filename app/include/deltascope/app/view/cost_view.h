#pragma once

#include "deltascope/app/view/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// What a run costs, as every face shows it. Money is in the unit of the price. What cannot be known is absent.

/// A number that was given, or that is assumed for want of one.
struct AssumedView {
    double value = 0;
    bool assumed = true;
};

/// One thing that is moved once per step.
struct CostRowView {
    std::uint64_t bytes = 0;
    double price = 0;
    double linkSeconds = 0;
    std::optional<std::uint64_t> bytesPerDay;
    std::optional<double> pricePerDay;
    std::optional<double> timesSmaller; ///< how many of it a full sync weighs
    double requests = 0; ///< that it takes to read it; a mean
};

struct CadenceView {
    std::uint64_t every = 0; ///< steps from one complete state to the next
    bool own = false; ///< the run's own cadence
    bool recommended = false;
    std::optional<std::uint64_t> publishedBytesPerDay;
    std::uint64_t restoreBytes = 0; ///< mean of one restore
    double restoreSeconds = 0; ///< on the link
    std::optional<std::uint64_t> bytesPerDay; ///< published and read by restores
    std::optional<double> pricePerDay;
};

/// The share of weights that one step changes, predicted from the learning rate and a sample of the weights.
struct PredictionView {
    double learningRate = 0;
    std::optional<double> fraction; ///< nothing where no sampled tensor lies in the formula's range
    std::optional<double> sigma; ///< standard deviation of the weights; nothing where none could be sampled
    std::uint64_t elements = 0; ///< of the tensors that the fraction is about
    std::uint64_t elementsOutside = 0; ///< of sampled tensors outside of the formula's range
    std::uint64_t sampledBytes = 0;
};

struct CostView {
    std::string source; ///< canonical URI
    std::string layout;
    int epoch = 0; ///< the newest; all numbers are of this one
    int epochs = 0;
    std::uint64_t versions = 0; ///< whole ones
    std::uint64_t anchors = 0; ///< complete ones
    std::uint64_t deltas = 0;
    std::uint64_t broken = 0; ///< that are left out
    bool baseOutside = false; ///< chains are cut by a new base checkpoint, not by anchors
    AssumedView pricePerGb;
    AssumedView pricePerThousandRequests; ///< part of all prices; 0 where none is given
    AssumedView linkGbps;
    AssumedView restoresPerDay;
    std::optional<double> stepsPerDay;
    bool stepsPerDayGiven = false; ///< else from publication times
    std::optional<double> secondsPerStep; ///< from publication times
    std::optional<CostRowView> delta; ///< mean delta
    std::optional<CostRowView> published; ///< mean of everything that was published
    std::optional<CostRowView> full; ///< a full sync
    bool fullIsBase = false; ///< the full sync is as large as the external base
    std::optional<std::uint64_t> restoreBytes; ///< what rebuilding the newest restorable step reads
    std::uint64_t restoreDeltas = 0;
    int restoreEpoch = 0; ///< of that step
    std::int64_t restoreStep = 0;
    bool restoreIsNewest = false; ///< no version lies behind that step
    std::optional<double> restoreSeconds; ///< on the link
    std::vector<CadenceView> cadences; ///< ascending
    std::optional<std::uint64_t> ownCadence;
    std::optional<std::uint64_t> recommendedCadence;
    std::string recommendation;
    std::optional<double> changedFraction; ///< observed; median over deltas
    std::uint64_t replayedDeltas = 0; ///< that it is the median of
    std::optional<PredictionView> prediction;
    std::vector<ProblemView> problems; ///< what the records say against objects that are counted
};

} // namespace deltascope::app
