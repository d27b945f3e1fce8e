#pragma once

#include "deltascope/app/view/summary_view.h"

#include "times.h"

#include "io/forms.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, NoteView>& note)
{
    io.type("Note", "Something that an actor said about a step.");
    io("actor", note.actor);
    io("step", note.step);
    io("t_us", note.tUs, "null: of a line of a log without a time");
    io("text", note.text);
}

template <class Io> void describe(Io& io, Of<Io, SpanView>& span)
{
    io.type("SpanRow", "A stretch of work on a step, by the clock of the actor.");
    io("actor", span.actor);
    io("phase", span.phase, "diff encode upload fetch stage verify pause apply …, \"sync\" for the whole");
    io("epoch", span.epoch);
    io("step", span.step);
    io("t0_us", span.t0Us);
    io("t1_us", span.t1Us);
    io("bytes", span.bytes);
    io.expect(span.t0Us >= 0 && span.t1Us >= span.t0Us && span.t1Us <= LastUs && span.t1Us - span.t0Us <= LongestUs,
              "a span lies at no time");
}

template <class Io> void describeServedStep(Io& io, Of<Io, ReplicaView>& replica)
{
    io("id", replica.id);
    io("engine", replica.engine);
    io("state", replica.state, "its own word: serving, fetching, paused, stalled, …");
    io("step", replica.step, "that it says it serves");
    io("behind", replica.behind, "versions; null: its step is not known, or it has stopped");
}

template <class Io> void describeHeartbeat(Io& io, Of<Io, ReplicaView>& replica)
{
    io("age_s", replica.ageSeconds, "of the heartbeat");
    io("late", replica.late);
    io("lagging", replica.lagging);
    if (io.has("foreign")) { // a server of an earlier version does not judge
        io("foreign", replica.foreign, "it has said for 30 s a step that the run neither has nor had");
        io("doubt", nullIfEmpty(replica.doubt), "why its heartbeat is no sign of life: its clock or its period");
    }
    io("detail", replica.detail);
}

template <class Io> void describe(Io& io, Of<Io, ReplicaView>& replica)
{
    io.type("BareReplica", "A replica as `log --json` writes it.");
    describeServedStep(io, replica);
    describeHeartbeat(io, replica);
}

template <class Io> void describe(Io& io, Of<Io, ReplicaHistoryView>& history)
{
    io.type("Replica", "A replica with its past, as far as spans say it.");
    describeServedStep(io, history.replica);
    io("lag_s", history.lagSeconds, "since the first version that it does not serve was published");
    describeHeartbeat(io, history.replica);
    io("last_pause_ms", history.lastPauseMs);
    io("paused_frac", history.pausedFraction, "of the last hour, 0…1");
    io("lag_history", history.lagHistory, "versions behind at each of the last 60 steps, oldest first");
}

inline constexpr WordSet FeedKinds { "", { "published", "applied", "note", "problem", "event", "notice" } };

template <class Io> void describe(Io& io, Of<Io, FeedItemView>& item)
{
    io.type("FeedItem", "Something that happened.");
    io("t_us", item.tUs);
    io("kind", word(item.kind, FeedKinds));
    io("step", item.step);
    io("text", item.text);
}

} // namespace deltascope::app
