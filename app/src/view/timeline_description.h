#pragma once

#include "deltascope/app/view/timeline_view.h"

#include "trace_description.h"

namespace deltascope::app {

// Written alone, as in summary_description.h.

inline double milliseconds(double us) { return us / 1e3; }
inline double milliseconds(std::int64_t us) { return milliseconds(static_cast<double>(us)); }
inline std::optional<double> milliseconds(const std::optional<std::int64_t>& us)
{
    return us ? std::optional(milliseconds(*us)) : std::nullopt;
}

template <class Io> void describe(Io& io, const PhaseTimeView& time)
{
    io.type("PhaseTime", "Wall time of a phase.");
    io("phase", time.phase);
    io("ms", milliseconds(time.us));
}

template <class Io> void describe(Io& io, const PhaseWorkView& work)
{
    io.type("PhaseWork", "Time of all spans of a phase, parallel work counted twice.");
    io("phase", work.phase);
    io("ms", milliseconds(work.us));
    io("bytes", work.bytes);
}

struct EpochBarView {
    int epoch = 0;
    BarView bar;
};

template <class Io> void describe(Io& io, const EpochBarView& row)
{
    const BarView& bar = row.bar;
    io.type("Bar", "One sync of one replica.");
    io("epoch", row.epoch);
    io("step", bar.step);
    io("actor", bar.actor, "replica; \"\" where only the publisher wrote spans");
    io("t0_us", bar.t0Us);
    io("t1_us", bar.t1Us);
    io("total_ms", milliseconds(bar.t1Us - bar.t0Us));
    io("pause_ms", milliseconds(bar.pauseUs), "null: no span says anything of a pause");
    io("phases", bar.phases,
       "from bottom to top of the bar; sums up to total_ms. A phase \"pause.apply\" is part of pause.");
    io("work", bar.work);
    io("slowest", bar.slowest, "the slowest of its step");
}

template <class Io> void describe(Io& io, const PublicationView& publication)
{
    io.type("Publication", "When a step could be seen in the run.");
    io("step", publication.step);
    io("t_us", publication.tUs);
}

template <class Io> void describe(Io& io, const WorstPauseView& pause)
{
    io.type("WorstPause", "The longest pause.");
    io("step", pause.step);
    io("actor", pause.actor);
    io("ms", milliseconds(pause.us));
}

template <class Io> void describe(Io& io, const PauseSummaryView& summary)
{
    io.type("PauseSummary", "Pauses of all replicas together.");
    io("paused_ms", milliseconds(summary.pausedUs));
    io("wall_ms", milliseconds(summary.wallUs),
       "of all replicas whose pauses are known, so that paused_ms / wall_ms is a share");
    io("pauses", summary.pauses);
    io("p50_ms", milliseconds(summary.p50Us));
    io("p95_ms", milliseconds(summary.p95Us));
    io("worst", summary.worst);
}

template <class Io> void describe(Io& io, const GhostView& ghost)
{
    io.type("Ghost", "What one full checkpoint would take at the observed upload rate.");
    io("full_bytes", ghost.fullBytes);
    io("bytes_per_s", ghost.bytesPerSecond);
    io("ms", ghost.ms());
}

template <class Io> void describe(Io& io, const TimelineView& timeline)
{
    std::vector<EpochBarView> bars;
    for (const BarView& bar : timeline.bars)
        bars.push_back({ timeline.epoch, bar });
    io.type("Timeline", "Syncs of a range of steps of one epoch.");
    io("rev", timeline.revision);
    io("epoch", timeline.epoch);
    io("actors", timeline.actors);
    io("bars", bars, "ascending by step, then actor");
    io("spans", timeline.spans, "of the same steps, by start; at most 5,000");
    io("visible", timeline.visible);
    io("summary", timeline.summary);
    io("ghost", timeline.ghost, "null without an upload span");
}

} // namespace deltascope::app
