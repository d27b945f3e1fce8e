#pragma once

#include "deltascope/app/service.h"
#include "deltascope/app/view/summary_view.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace deltascope::app {

/// One source that a monitor follows. A value that its owner guards.
class FollowedRun {
public:
    using Clock = std::chrono::steady_clock;

    FollowedRun(std::string id, std::string name, SourceRequest request, bool demo);

    const SourceRequest& request() const noexcept { return m_request; }
    const std::shared_ptr<const RunSnapshot>& snapshot() const noexcept { return m_snapshot; }

    /// Starts to watch the source, or again after an error.
    void begin(Service& service);
    /// Cancels what was started for it.
    void end(Service& service) const;
    bool watchedBy(JobId job) const noexcept { return m_watch == job; }
    bool verifiedBy(JobId job) const noexcept { return m_verification == job; }

    void take(const RunChanged& changed, std::int64_t nowUs);
    /// Before the first take(): what of it is being read. False: that is known.
    bool takeProgress(const std::string& phase);
    void takeFailure(const Error& error, Clock::time_point now);
    /// Whether a source that could not be read should be tried again. The pause is `first` after the first failure and
    /// doubles with each further one: up to 5 minutes, or 30 seconds for a source that was read before.
    bool wantsRetry(Clock::time_point now, Clock::duration first) const;
    void setAlerts(std::uint64_t firing, const std::string& worst);

    /// Starts the verification of what was not verified yet, one stretch at a time.
    void verifyNext(Service& service, int level);
    void takeVerification(const Result<JobResult>& outcome, std::int64_t nowUs);
    /// Results of a verification that began at `beganUs`. What was seen to change since then is left out: what was
    /// read may be what was there before.
    void addVerdicts(const VerifyView& view, std::int64_t beganUs, std::int64_t nowUs);

private:
    RunSnapshot& change();
    void look(RunSnapshot& snapshot, std::int64_t nowUs);

    SourceRequest m_request;
    std::shared_ptr<const RunSnapshot> m_snapshot;
    std::optional<JobId> m_watch;
    std::optional<JobId> m_verification;
    std::pair<int, std::pair<std::int64_t, std::int64_t>> m_verifying {}; ///< epoch, first and last step
    std::int64_t m_verifyingSinceUs = 0;
    struct Seen {
        std::string objects;
        std::int64_t sinceUs = 0;
    };
    std::map<std::pair<int, std::int64_t>, Seen> m_seen; ///< of each step that can be verified
    std::int64_t m_lookUs = 0; ///< of the newest look; grows with each, also when the clock is set back
    Clock::time_point m_failedAt {};
    int m_failures = 0; ///< since it was last read
};

} // namespace deltascope::app
