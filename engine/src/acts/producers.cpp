#include "acts/producers.h"

#include "beside/lease/lease_holder.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace deltascope {

namespace {

constexpr std::int64_t SecondUs = 1'000'000;
constexpr std::int64_t LeaseLifeUs = 600 * SecondUs; ///< LeaseTerms::life
constexpr std::size_t Intervals = 20;
constexpr std::int64_t QuietIntervals = 3;
constexpr std::string_view Remedy = "Stop the trainer or publisher first, then repeat this.";

tl::unexpected<Error> producing(const Run& run, std::string text, std::optional<std::int64_t> step)
{
    return fail(Error { Code::Exists, std::move(text), run.store->uri(), step, std::string(Remedy) });
}

/// When a trainer published the versions of the newest epoch; times of 0 are none. Roll backs are no trainer's, so that
/// one can be taken back at once.
std::vector<std::int64_t> publicationTimes(const Run& run, const Version* leftover)
{
    std::vector<std::int64_t> times;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        const bool isTrainers = &version != leftover && version.epoch == run.epochs() - 1 && !restoredVersion(run, i);
        if (isTrainers && version.objects.publishedUs() > 0)
            times.push_back(version.objects.publishedUs());
    }
    std::sort(times.begin(), times.end());
    return times;
}

/// The median of the last intervals; nothing with fewer than two versions.
std::optional<std::int64_t> usualInterval(const std::vector<std::int64_t>& times)
{
    std::vector<std::int64_t> intervals;
    for (std::size_t i = times.size(); i-- > 1 && intervals.size() < Intervals;)
        intervals.push_back(times[i] - times[i - 1]);
    if (intervals.empty())
        return std::nullopt;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return *middle;
}

std::string secondsText(std::int64_t us) { return fmt::format("{} s", (us + SecondUs / 2) / SecondUs); }

Result<void> expectNoLease(const Workbench& bench, const Run& run, TaskContext& task)
{
    DS_TRY(const std::optional<std::string> holder, leaseHolder(bench, *run.store, task));
    if (holder)
        return producing(run, fmt::format("{} holds the lease of this run", *holder), std::nullopt);
    return {};
}

} // namespace

Result<std::optional<std::string>> leaseHolder(const Workbench& bench, const ObjectStore& run, TaskContext& task)
{
    DS_TRY(const std::int64_t number, newestLease(run, task));
    if (number == 0)
        return std::nullopt;
    const Result<std::optional<LeaseHolder>> holder = readLease(run, number, task);
    if (!holder && holder.error().code == Code::NotFound)
        return std::nullopt;
    DS_CHECK(holder);
    if (!*holder || (*holder)->released)
        return std::nullopt;
    const Liveness liveness = livenessOf(**holder);
    const bool mayLive = liveness == Liveness::Unknown && bench.nowUs() - (*holder)->renewedUs < LeaseLifeUs;
    return liveness == Liveness::Lives || mayLive ? std::optional((*holder)->text()) : std::nullopt;
}

Result<void> expectNoProducer(const Workbench& bench, const Run& run, const Version* leftover, TaskContext& task)
{
    DS_CHECK(expectNoLease(bench, run, task));
    for (const Version& version : run.versions) {
        if (&version != leftover && (version.beingWritten || version.state == VersionState::Publishing))
            return producing(run, fmt::format("step {} is being written", version.step()), version.step());
    }
    const std::vector<std::int64_t> times = publicationTimes(run, leftover);
    const std::optional<std::int64_t> interval = usualInterval(times);
    if (!interval)
        return {};
    const std::int64_t age = bench.nowUs() - times.back();
    if (age < 0)
        return fail(Error { Code::Exists,
                            fmt::format("by the clock of this machine the newest step comes from {} in the future: "
                                        "whether a trainer runs cannot be known",
                                        secondsText(-age)),
                            run.store->uri(), std::nullopt,
                            "Set the clock that is wrong, of this machine or of the store, or wait until that time has "
                            "passed, then repeat this." });
    if (age < QuietIntervals * *interval)
        return producing(run,
                         fmt::format("the newest step came {} ago, and one comes every {}: a trainer seems to run",
                                     secondsText(age), secondsText(*interval)),
                         std::nullopt);
    return {};
}

} // namespace deltascope
