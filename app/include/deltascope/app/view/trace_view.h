#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// A replica as its newest heartbeat and the run tell.
struct ReplicaView {
    std::string id;
    std::string engine;
    std::string state; ///< the replica's own word
    std::optional<std::int64_t> step; ///< that it serves
    std::optional<std::int64_t>
        behind; ///< versions of the run that it does not serve yet; nothing: not known, or it stopped
    double ageSeconds = 0; ///< of the heartbeat
    bool late = false; ///< no heartbeat for three periods, or none that is believed
    bool lagging = false; ///< replica-lag: three or more versions behind
    /// replica-foreign: it has said for 30 s a step that the run neither has nor is known to have had.
    bool foreign = false;
    std::string doubt; ///< why its heartbeat is no sign of life: its clock or its period; empty if it is one
    std::string detail;
};

/// Something that an actor said about a step: an annotation, a coalesced checkpoint, trouble in a log.
struct NoteView {
    std::string actor;
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> tUs; ///< nothing for lines of a log without a time stamp
    std::string text;

    bool operator==(const NoteView&) const = default;
};

/// A stretch of work on a step, with its place in time by the clock of the actor.
struct SpanView {
    std::string actor;
    std::string phase; ///< diff encode upload fetch stage verify pause apply …, "sync" for the whole
    int epoch = 0;
    std::int64_t step = 0;
    std::int64_t t0Us = 0;
    std::int64_t t1Us = 0;
    std::uint64_t bytes = 0;

    bool operator==(const SpanView&) const = default;
};

} // namespace deltascope::app
