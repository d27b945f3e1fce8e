#include "deltascope/engine/cost.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/median.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

constexpr double DefaultPricePerGb = 0.09;
constexpr double DefaultLinkGbps = 10;
constexpr double DefaultRestoresPerDay = 4;
constexpr double SecondsPerDay = 86'400;
constexpr double BytesPerGb = 1e9;
constexpr std::uint64_t LongestCadence = 1'000'000'000;

std::optional<double> mean(std::uint64_t sum, std::uint64_t count)
{
    return count == 0 ? std::nullopt : std::optional(static_cast<double>(sum) / static_cast<double>(count));
}

bool isWhole(const Version& version)
{
    return version.state == VersionState::Complete || version.state == VersionState::Noop;
}

/// The first form of a kind among those that the publisher wrote; null: none.
const VersionObjects* publishedForm(const Version& version, VersionKind kind)
{
    for (std::size_t form = 0; form < version.forms(); ++form) {
        const VersionObjects& objects = version.objectsOf(form);
        const bool counts = form == 0 || (version.summaryOf(form) && objects.mirror.empty());
        if (counts && version.kindOf(form) == kind)
            return &objects;
    }
    return nullptr;
}

/// The newest complete state that was published, of the newest epoch that has one.
const VersionObjects* newestComplete(const Run& run)
{
    for (auto version = run.versions.rbegin(); version != run.versions.rend(); ++version) {
        if (const VersionObjects* complete = publishedForm(*version, VersionKind::Anchor);
            complete && isWhole(*version))
            return complete;
    }
    return nullptr;
}

/// The usual number of versions from one complete state to the next: the median, of two in the middle the lower one.
/// `complete`: places of those among `versions`.
std::optional<std::uint64_t> cadenceOf(const std::vector<std::uint64_t>& complete, std::uint64_t versions)
{
    // A writer may begin with two complete states in a row. That tells nothing where more versions follow.
    const bool beginsTwice = complete.size() > 1 && complete[0] == 0 && complete[1] == 1 && versions > 2;
    std::vector<std::uint64_t> intervals;
    for (std::size_t i = beginsTwice ? 2 : 1; i < complete.size(); ++i)
        intervals.push_back(complete[i] - complete[i - 1]);
    if (intervals.empty())
        return std::nullopt;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>((intervals.size() - 1) / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return *middle;
}

std::optional<double> changedFractionOf(const Run& run, const Version& version)
{
    const std::optional<std::uint64_t> total = run.totalElementsOf(version);
    if (!version.facts || version.facts->damage || version.rewrittenForms.contains(0) || !run.countsOnItsBase(version)
        || total.value_or(0) == 0)
        return std::nullopt;
    return static_cast<double>(version.facts->changedElements) / static_cast<double>(*total);
}

std::string bytesWords(double bytes) { return bytesText(static_cast<std::uint64_t>(std::llround(bytes))); }

std::string numberWords(double number)
{
    return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

std::string restoresWords(double restores)
{
    return numberWords(restores) + (restores == 1 ? " restore" : " restores");
}

CostAssumption given(std::optional<double> value, double otherwise)
{
    return CostAssumption { value.value_or(otherwise), !value };
}

double money(const CostReport& report, double bytes, double requests)
{
    return bytes / BytesPerGb * report.pricePerGb.value + requests / 1000 * report.pricePerThousandRequests.value;
}

/// To read objects: in windows, and the begin of each by itself, where its header is.
double requestsOf(const VersionObjects& version)
{
    constexpr std::uint64_t WindowBytes = 4U << 20;
    double requests = 0;
    for (const ObjectInfo& object : version.objects)
        requests += 1 + std::ceil(static_cast<double>(object.sizeBytes) / WindowBytes);
    return requests;
}

double publishedRequests(const VersionObjects& version)
{
    double requests = requestsOf(version);
    for (const VersionObjects& form : version.otherForms)
        requests += form.mirror.empty() ? requestsOf(form) : 0;
    return requests;
}

double linkSeconds(const CostReport& report, double bytes) { return bytes * 8 / (report.linkGbps.value * 1e9); }

std::optional<CostRow> rowOf(const CostReport& report, std::optional<double> bytes, std::optional<double> requests)
{
    if (!bytes)
        return std::nullopt;
    CostRow row;
    row.bytes = *bytes;
    row.requests = requests.value_or(0);
    row.money = money(report, *bytes, row.requests);
    row.linkSeconds = linkSeconds(report, *bytes);
    if (report.stepsPerDay) {
        row.bytesPerDay = *report.stepsPerDay * *bytes;
        row.moneyPerDay = *report.stepsPerDay * row.money;
    }
    if (report.inputs.fullBytes && *bytes > 0)
        row.timesSmaller = static_cast<double>(*report.inputs.fullBytes) / *bytes;
    return row;
}

CadenceRow cadenceRow(const CostReport& report, const CadenceModel& model, std::uint64_t every)
{
    CadenceRow row;
    row.every = every;
    row.own = report.inputs.cadence == every;
    row.recommended = report.recommended == every;
    row.restoreBytes = model.restoreBytes(every);
    row.restoreSeconds = linkSeconds(report, row.restoreBytes);
    if (report.stepsPerDay) {
        row.publishedPerDay = model.publishedPerDay(every);
        row.bytesPerDay = model.bytesPerDay(every);
        const CadenceModel requests { report.inputs.fullRequests.value_or(0), report.inputs.deltaRequests.value_or(0),
                                      model.stepsPerDay, model.restoresPerDay };
        row.moneyPerDay = money(report, *row.bytesPerDay, requests.bytesPerDay(every));
    }
    return row;
}

/// Why there is no cadence to choose, or empty.
std::string whatIsMissing(const CostReport& report)
{
    const CostInputs& inputs = report.inputs;
    if (inputs.standAlone && inputs.versions == 0 && inputs.broken > 0)
        return "No version of this run can be read, so nothing is known of what it costs.";
    if (inputs.standAlone)
        return "Every version of this layout is complete, so there is no cadence to choose.";
    if (!inputs.fullBytes && inputs.baseOutside)
        return "The size of a complete checkpoint is not known; --base DIR tells it.";
    if (!inputs.fullBytes)
        return "The size of a complete checkpoint is not known: the run has no complete anchor.";
    if (!inputs.deltaBytes)
        return "The size of a delta is not known: the run has none yet.";
    if (!report.stepsPerDay)
        return "How many steps a day has is not known, publication times do not tell it; --steps-per-day N does.";
    return {};
}

std::string arithmetic(const CostReport& report, const CadenceModel& model)
{
    const bool base = report.inputs.baseOutside;
    const char* const one = base ? "new base" : "anchor";
    if (!report.recommended)
        return fmt::format("Without restores no {} pays: only what comes back to read deltas gains by one.", one);
    const std::uint64_t every = *report.recommended;
    const std::string steps = numberWords(model.stepsPerDay);
    const std::string restores = restoresWords(model.restoresPerDay);
    if (every == 1)
        return fmt::format(
            "Publish every step complete: with {} steps and {} per day, deltas of {} beside a complete {} cost "
            "more than they save.",
            steps, restores, bytesWords(model.deltaBytes), bytesWords(model.fullBytes));
    const auto k = static_cast<double>(every);
    return fmt::format(
        "A {} every {} steps moves the fewest bytes: {} in place of deltas add {} steps / {} x ({} - {}) = {} per day, "
        "and {} read {} x {} / 2 deltas of {} = {} per day; more of them cost more than they save, and "
        "fewer save less.",
        base ? "new base" : "complete anchor", every, base ? "bases" : "anchors", steps, every,
        bytesWords(model.fullBytes), bytesWords(model.deltaBytes),
        bytesWords(model.stepsPerDay * (model.fullBytes - model.deltaBytes) / k), restores,
        numberWords(model.restoresPerDay), every - 1, bytesWords(model.deltaBytes),
        bytesWords(model.restoresPerDay * model.deltaBytes * (k - 1) / 2));
}

std::string againstOwn(const CostReport& report, const CadenceModel& model)
{
    if (!report.recommended || !report.inputs.cadence)
        return {};
    if (report.recommended == report.inputs.cadence)
        return " This run does so.";
    const double ratio = model.bytesPerDay(*report.inputs.cadence) / model.bytesPerDay(*report.recommended);
    return fmt::format(" This run's cadence of {} moves {:.2f} times as much.", *report.inputs.cadence, ratio);
}

}

Result<void> CostOptions::check() const
{
    const auto inside = [](const char* what, std::optional<double> value, double least, double most) -> Result<void> {
        if (!value || (*value >= least && *value <= most)) // false for what is no number
            return {};
        return fail(Code::Usage, fmt::format("the {} is {}; it must lie between {} and {}", what, *value, least, most));
    };
    DS_CHECK(inside("price per GB", pricePerGb, 0, 1e6));
    DS_CHECK(inside("price of 1,000 requests", pricePerThousandRequests, 0, 1e6));
    DS_CHECK(inside("link in Gbit/s", linkGbps, 1e-6, 1e6));
    DS_CHECK(inside("number of steps per day", stepsPerDay, 1e-3, 1e6));
    DS_CHECK(inside("number of restores per day", restoresPerDay, 0, 1e6));
    return inside("learning rate", learningRate, 1e-15, 1);
}

std::uint64_t publishedBytes(const VersionObjects& version)
{
    std::uint64_t bytes = version.wireBytes();
    for (const VersionObjects& form : version.otherForms)
        bytes += form.mirror.empty() ? form.wireBytes() : 0;
    return bytes;
}

CostInputs costInputsOf(const Run& run)
{
    CostInputs inputs;
    inputs.epoch = std::max(0, run.epochs() - 1);
    inputs.baseOutside = run.layout->needsExternalBase();
    inputs.standAlone = run.layout->standAlone();
    std::uint64_t bytes = 0;
    std::uint64_t deltaBytes = 0;
    double requests = 0;
    double deltaRequests = 0;
    std::vector<double> intervals;
    std::vector<double> fractions;
    std::vector<std::uint64_t> complete;
    const Version* before = nullptr;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        if (version.epoch != inputs.epoch)
            continue;
        if (version.state == VersionState::Broken)
            ++inputs.broken;
        if (!isWhole(version))
            continue;
        bytes += publishedBytes(version.objects);
        requests += publishedRequests(version.objects);
        if (before && !version.acrossGap)
            intervals.push_back(static_cast<double>(version.objects.publishedUs() - before->objects.publishedUs())
                                / 1e6);
        if (publishedForm(version, VersionKind::Anchor))
            complete.push_back(inputs.versions);
        if (const VersionObjects* delta = publishedForm(version, VersionKind::Delta)) {
            ++inputs.deltas;
            deltaBytes += delta->wireBytes();
            deltaRequests += requestsOf(*delta);
        }
        if (version.kind == VersionKind::Delta) {
            if (const std::optional<double> fraction = changedFractionOf(run, version);
                fraction && !restoredVersion(run, i))
                fractions.push_back(*fraction);
        }
        ++inputs.versions;
        before = &version;
    }
    inputs.anchors = complete.size();
    inputs.versionBytes = mean(bytes, inputs.versions);
    inputs.deltaBytes = mean(deltaBytes, inputs.deltas);
    if (inputs.versions > 0)
        inputs.versionRequests = requests / static_cast<double>(inputs.versions);
    if (inputs.deltas > 0)
        inputs.deltaRequests = deltaRequests / static_cast<double>(inputs.deltas);
    if (const VersionObjects* full = newestComplete(run)) {
        inputs.fullBytes = full->wireBytes();
        inputs.fullRequests = requestsOf(*full);
    } else if (run.base) {
        inputs.fullBytes = run.base->objects.wireBytes();
        inputs.fullRequests = requestsOf(run.base->objects);
        inputs.fullIsBase = true;
    }
    inputs.secondsPerStep = medianOf(std::move(intervals));
    if (inputs.secondsPerStep && *inputs.secondsPerStep < 1)
        inputs.secondsPerStep.reset();
    inputs.cadence = cadenceOf(complete, inputs.versions);
    inputs.replayedDeltas = fractions.size();
    inputs.changedFraction = medianOf(std::move(fractions));
    if (const Version* latest = run.latest()) {
        if (const Result<Plan> plan = planFor(run, *latest)) {
            inputs.restoreBytes = plan->readBytes;
            inputs.restoreDeltas = plan->deltas();
            inputs.restoreEpoch = latest->epoch;
            inputs.restoreStep = latest->step();
            inputs.restoreIsNewest = latest == &run.versions.back();
        }
    }
    return inputs;
}

double CadenceModel::publishedPerDay(std::uint64_t every) const noexcept
{
    const auto k = static_cast<double>(every);
    return stepsPerDay * (fullBytes / k + deltaBytes * (k - 1) / k);
}

double CadenceModel::restoreBytes(std::uint64_t every) const noexcept
{
    return fullBytes + deltaBytes * (static_cast<double>(every) - 1) / 2;
}

double CadenceModel::bytesPerDay(std::uint64_t every) const noexcept
{
    return publishedPerDay(every) + restoresPerDay * restoreBytes(every);
}

std::optional<std::uint64_t> CadenceModel::best() const noexcept
{
    if (fullBytes <= deltaBytes)
        return 1;
    if (restoresPerDay * deltaBytes <= 0)
        return std::nullopt;
    // The sum is convex in k, so the best whole number lies beside the zero of its derivative.
    const double zero = std::sqrt(2 * stepsPerDay * (fullBytes - deltaBytes) / (restoresPerDay * deltaBytes));
    const auto below = static_cast<std::uint64_t>(std::clamp(zero, 1.0, static_cast<double>(LongestCadence)));
    return below == LongestCadence || bytesPerDay(below) <= bytesPerDay(below + 1) ? below : below + 1;
}

AnchorDecision anchorPays(std::uint64_t anchorBytes, std::uint64_t deltaBytesSinceAnchor, double restoresUntilNext)
{
    const double saved = restoresUntilNext * static_cast<double>(deltaBytesSinceAnchor);
    AnchorDecision decision;
    decision.pays = saved > static_cast<double>(anchorBytes);
    decision.arithmetic =
        fmt::format("{} until the next anchor x {} of deltas since the last one = {}, {} than the {} of an anchor.",
                    restoresWords(restoresUntilNext), bytesText(deltaBytesSinceAnchor), bytesWords(saved),
                    decision.pays ? "more" : "not more", bytesText(anchorBytes));
    return decision;
}

CostReport adviseCost(const CostInputs& inputs, const CostOptions& options)
{
    CostReport report;
    report.inputs = inputs;
    report.pricePerGb = given(options.pricePerGb, DefaultPricePerGb);
    report.pricePerThousandRequests = given(options.pricePerThousandRequests, 0);
    report.linkGbps = given(options.linkGbps, DefaultLinkGbps);
    report.restoresPerDay = given(options.restoresPerDay, DefaultRestoresPerDay);
    report.stepsPerDayGiven = options.stepsPerDay.has_value();
    report.stepsPerDay = options.stepsPerDay;
    if (!report.stepsPerDay && inputs.secondsPerStep)
        report.stepsPerDay = SecondsPerDay / *inputs.secondsPerStep;
    report.delta = rowOf(report, inputs.deltaBytes, inputs.deltaRequests);
    report.published = rowOf(report, inputs.versionBytes, inputs.versionRequests);
    if (inputs.fullBytes)
        report.full = rowOf(report, static_cast<double>(*inputs.fullBytes), inputs.fullRequests);
    if (inputs.restoreBytes)
        report.restoreSeconds = linkSeconds(report, static_cast<double>(*inputs.restoreBytes));

    report.recommendation = whatIsMissing(report);
    if (!inputs.fullBytes || !inputs.deltaBytes)
        return report;
    const CadenceModel model { static_cast<double>(*inputs.fullBytes), *inputs.deltaBytes,
                               report.stepsPerDay.value_or(0), report.restoresPerDay.value };
    if (report.recommendation.empty()) {
        report.recommended = model.best();
        report.recommendation = arithmetic(report, model) + againstOwn(report, model);
    }
    std::set<std::uint64_t> cadences { 1, 2, 5, 10, 20, 50, 100 };
    for (const std::optional<std::uint64_t>& also : { inputs.cadence, report.recommended }) {
        if (also)
            cadences.insert(*also);
    }
    for (const std::uint64_t every : cadences)
        report.cadences.push_back(cadenceRow(report, model, every));
    return report;
}

CostReport adviseCost(const Run& run, const CostOptions& options) { return adviseCost(costInputsOf(run), options); }

std::optional<double> predictedChangedFraction(double learningRate, double sigma, unsigned mantissaBits) noexcept
{
    constexpr double MeanUpdate = 0.18; // of Adam late in training, in learning rates
    const double step = learningRate * MeanUpdate;
    const double finer = std::exp2(static_cast<double>(mantissaBits) - 7); // than BF16
    const double saturated = 128 * finer * step; // below this size every weight changes
    if (!(step > 0) || !(sigma > saturated))
        return std::nullopt;
    return std::clamp(102 * finer * step / sigma * (std::log2(sigma / saturated) + 1), 0.0, 1.0);
}

ChangePrediction predictChanges(const std::vector<WeightScale>& scales, double learningRate)
{
    ChangePrediction prediction;
    prediction.learningRate = learningRate;
    double changed = 0;
    double variance = 0;
    for (const WeightScale& scale : scales) {
        const auto elements = static_cast<double>(scale.elements);
        const unsigned mantissaBits = scale.dtype == Dtype::F32 ? 23 : scale.dtype == Dtype::F16 ? 10 : 7;
        prediction.sampledBytes += scale.sampledBytes;
        variance += scale.sigma * scale.sigma * elements;
        if (const std::optional<double> fraction = predictedChangedFraction(learningRate, scale.sigma, mantissaBits)) {
            changed += *fraction * elements;
            prediction.elements += scale.elements;
        } else {
            prediction.elementsOutside += scale.elements;
        }
    }
    if (prediction.elements > 0)
        prediction.fraction = changed / static_cast<double>(prediction.elements);
    if (!scales.empty())
        prediction.sigma = std::sqrt(variance / static_cast<double>(prediction.elements + prediction.elementsOutside));
    return prediction;
}

} // namespace deltascope
