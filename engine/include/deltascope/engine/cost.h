#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a run costs to publish and to restore, and how often a complete state should be published. Arithmetic over
// sizes, times and facts that are known; only sampleWeightScales() reads payload. 1 GB is 10^9 bytes, a day has 86,400
// seconds.

namespace deltascope {

// --- what is known ---------------------------------------------------------------------------------------------------

struct CostOptions {
    std::optional<double> pricePerGb; ///< money per GB moved; nothing: 0.09 is assumed
    std::optional<double> linkGbps; ///< 10^9 bits per second; nothing: 10 is assumed
    std::optional<double> stepsPerDay; ///< nothing: from publication times
    std::optional<double> restoresPerDay; ///< nothing: 4 are assumed
    std::optional<double> learningRate; ///< nothing: no prediction
    std::optional<double> pricePerThousandRequests = {}; ///< money for 1,000 requests; nothing: they cost nothing

    /// Errors: Usage (a value that is no number, negative, or beyond what makes sense).
    Result<void> check() const;
};

/// What sizes, times, headers and facts of the newest epoch say. Versions that are broken or still being published are
/// left out.
struct CostInputs {
    int epoch = 0;
    std::uint64_t versions = 0;
    std::uint64_t anchors = 0; ///< versions that were published complete, also beside a delta
    std::uint64_t deltas = 0; ///< versions that were published as a delta, also beside a complete form
    std::uint64_t broken = 0; ///< versions that are left out because they cannot be read, or are proven damaged
    std::optional<double> versionBytes; ///< mean over all versions, as they were published: see publishedBytes()
    std::optional<double> deltaBytes; ///< mean over deltas
    /// The newest complete state of this epoch, else of an earlier one, else the external base.
    std::optional<std::uint64_t> fullBytes;
    bool fullIsBase = false; ///< fullBytes is that of the external base
    bool baseOutside = false; ///< the layout has no anchors: a chain is cut by a new external base
    bool standAlone = false; ///< every version is complete by the layout's rules
    /// Between one version and the next, lower median; nothing below a second, where times are those of a copy.
    std::optional<double> secondsPerStep;
    /// Versions from one complete state to the next, lower median. Two in a row that a run begins with do not count.
    std::optional<std::uint64_t> cadence;
    std::optional<double> changedFraction; ///< of the whole model, lower median over the deltas that were replayed
    std::uint64_t replayedDeltas = 0; ///< that changedFraction is the median of
    std::optional<std::uint64_t> restoreBytes; ///< what rebuilding the newest restorable step reads
    std::uint64_t restoreDeltas = 0;
    int restoreEpoch = 0; ///< of that step
    std::int64_t restoreStep = 0;
    bool restoreIsNewest = false; ///< no version lies behind that step
    /// How many requests it takes to read the same: a window of 4 MiB each, and one more for each object.
    std::optional<double> versionRequests;
    std::optional<double> deltaRequests;
    std::optional<double> fullRequests;
};
CostInputs costInputsOf(const Run& run);

/// Bytes of all forms of a version that its publisher wrote: without those that mirrors hold beside them.
std::uint64_t publishedBytes(const VersionObjects& version);

// --- cadence ---------------------------------------------------------------------------------------------------------

/// A run that publishes a complete state in place of every k-th delta, and is restored at steps that are equally
/// likely.
struct CadenceModel {
    double fullBytes = 0;
    double deltaBytes = 0;
    double stepsPerDay = 0;
    double restoresPerDay = 0;

    double publishedPerDay(std::uint64_t every) const noexcept; ///< bytes
    double restoreBytes(std::uint64_t every) const noexcept; ///< mean of one restore
    double bytesPerDay(std::uint64_t every) const noexcept; ///< published once, and read by restores
    /// The cadence with the fewest bytes per day; nothing where a longer one is always better (no restores).
    std::optional<std::uint64_t> best() const noexcept;
};

struct AnchorDecision {
    bool pays = false;
    std::string arithmetic; ///< one sentence with the numbers in it
};
/// Whether publishing a complete state now moves fewer bytes than the restores until the next one would read in deltas.
AnchorDecision anchorPays(std::uint64_t anchorBytes, std::uint64_t deltaBytesSinceAnchor, double restoresUntilNext);

// --- report ----------------------------------------------------------------------------------------------------------

/// A number that was given, or that is assumed for want of one.
struct CostAssumption {
    double value = 0;
    bool assumed = true;
};

/// One thing that is moved once per step.
struct CostRow {
    double bytes = 0;
    double requests = 0;
    double money = 0; ///< of both
    double linkSeconds = 0;
    std::optional<double> bytesPerDay;
    std::optional<double> moneyPerDay;
    std::optional<double> timesSmaller; ///< how many of it a full sync weighs
};

struct CadenceRow {
    std::uint64_t every = 0; ///< steps from one complete state to the next
    bool own = false; ///< the run's own cadence
    bool recommended = false;
    std::optional<double> publishedPerDay; ///< bytes
    double restoreBytes = 0; ///< mean of one restore
    double restoreSeconds = 0; ///< on the link
    std::optional<double> bytesPerDay; ///< published and read by restores
    std::optional<double> moneyPerDay;
};

/// What cannot be known is absent.
struct CostReport {
    CostInputs inputs;
    CostAssumption pricePerGb;
    CostAssumption pricePerThousandRequests;
    CostAssumption linkGbps;
    CostAssumption restoresPerDay;
    std::optional<double> stepsPerDay;
    bool stepsPerDayGiven = false; ///< else from publication times
    std::optional<CostRow> delta; ///< mean delta
    std::optional<CostRow> published; ///< mean of everything that was published
    std::optional<CostRow> full; ///< a full sync
    std::optional<double> restoreSeconds; ///< of the newest restorable step, on the link
    std::vector<CadenceRow> cadences; ///< ascending; empty while the size of a complete state or of a delta is unknown
    std::optional<std::uint64_t> recommended;
    std::string recommendation; ///< sentences, with the arithmetic or with what is missing
};
/// `options` have passed check().
CostReport adviseCost(const CostInputs& inputs, const CostOptions& options);
CostReport adviseCost(const Run& run, const CostOptions& options);

// --- predicted changes -----------------------------------------------------------------------------------------------

/// How wide the values of one tensor are spread, from a sample.
struct WeightScale {
    std::string name;
    Dtype dtype = Dtype::BF16;
    std::uint64_t elements = 0; ///< of the whole tensor
    std::uint64_t sampledBytes = 0;
    double sigma = 0; ///< standard deviation of the finite values
};
/// Reads at most 64 MiB, evenly spread, of the complete state that the newest restorable step starts from, else of the
/// external base: BF16, F16 and F32 tensors with two or more dimensions and at least 4,096 elements, the largest first.
/// Empty where no such state is known. Errors: Rewritten, Digest (its bytes differ from the record), those of
/// openChecked().
Result<std::vector<WeightScale>> sampleWeightScales(Workbench& bench, const Run& run, TaskContext& task);

/// Share of weights whose stored bits an Adam step changes, 0 to 1, for normally distributed weights that are rounded
/// to `mantissaBits` (7: BF16) once per step from an exact master copy. Mean step: 0.18 learning rates. Nothing where
/// `sigma` is so small against the step that the formula does not hold (docs/cli.md, "cost").
std::optional<double> predictedChangedFraction(double learningRate, double sigma, unsigned mantissaBits = 7) noexcept;

struct ChangePrediction {
    double learningRate = 0;
    std::optional<double> fraction; ///< mean over elements of the tensors in the formula's range
    std::optional<double> sigma; ///< over all sampled tensors, root of the mean variance
    std::uint64_t elements = 0; ///< of tensors in range
    std::uint64_t elementsOutside = 0; ///< of sampled tensors outside of it
    std::uint64_t sampledBytes = 0;
};
ChangePrediction predictChanges(const std::vector<WeightScale>& scales, double learningRate);

} // namespace deltascope
