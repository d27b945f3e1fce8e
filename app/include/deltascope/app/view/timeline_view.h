#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/trace_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// Where the time of weight syncs goes. Microseconds since 1970 by the clocks of the actors.

struct PhaseTimeView {
    std::string phase;
    std::int64_t us = 0;
};
struct PhaseWorkView {
    std::string phase;
    std::int64_t us = 0; ///< of all spans, parallel work counted twice
    std::uint64_t bytes = 0;
};

/// One sync of one replica, from the begin of the publisher's work to the end of the replica's.
struct BarView {
    std::int64_t step = 0;
    std::string actor; ///< the replica; empty where only the publisher wrote spans
    std::int64_t t0Us = 0;
    std::int64_t t1Us = 0;
    std::optional<std::int64_t> pauseUs; ///< nothing where no span tells of a pause
    /// Wall time by phase, the phase nearest to the replica first; sums up to t1Us - t0Us. The part of a pause in which
    /// weights are applied is "pause.apply", its rest "pause"; where nobody did anything it is "waiting". A bar that is
    /// "sync" as a whole has no known breakdown.
    std::vector<PhaseTimeView> phases;
    std::vector<PhaseWorkView> work;
    bool slowest = false; ///< of its step
};

struct PublicationView {
    std::int64_t step = 0;
    std::int64_t tUs = 0;
};

struct WorstPauseView {
    std::int64_t step = 0;
    std::string actor;
    std::int64_t us = 0;
};
/// Pauses of all replicas together.
struct PauseSummaryView {
    std::int64_t pausedUs = 0;
    double wallUs = 0; ///< from the first begin to the last end, times the replicas that tell of pauses
    std::uint64_t pauses = 0;
    std::optional<std::int64_t> p50Us;
    std::optional<std::int64_t> p95Us;
    std::optional<WorstPauseView> worst;
};

/// What one full checkpoint would take at the rate of the uploads.
struct GhostView {
    std::uint64_t fullBytes = 0;
    double bytesPerSecond = 0;

    double ms() const { return 1e3 * static_cast<double>(fullBytes) / bytesPerSecond; }
};

/// Syncs of a range of steps of one epoch.
struct TimelineView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::vector<std::string> actors; ///< publishers, then replicas, each by name
    std::vector<BarView> bars; ///< by step, then actor
    std::vector<SpanView> spans; ///< by begin; at most 5,000, the newest
    std::vector<PublicationView> visible; ///< when steps could be seen in the run
    PauseSummaryView summary;
    std::optional<GhostView> ghost; ///< nothing without an upload or a complete anchor
};

/// The syncs of the steps from `from` to `to`, both included, of one epoch. Pure.
TimelineView makeTimelineView(const RunView& run, int epoch, std::int64_t from, std::int64_t to);

} // namespace deltascope::app
