#pragma once

#include "deltascope/app/view/annotations_view.h"

#include "act_description.h"
#include "problem_description.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, RefView>& ref)
{
    io.type("Ref", "A word that people gave a version.");
    io("word", ref.word, "as behind the @ of an address");
    io("pin", ref.isPin);
    io("step", ref.step, "null: its last move cannot be read");
    io("epoch", ref.epoch);
    io("here", ref.isHere, "the version that it means is in the run");
    io("by", ref.by);
    io("why", nullIfEmpty(ref.why));
    io("t_us", ref.tUs);
    io("local", ref.isLocal, "kept on the machine of the daemon alone");
    io("problem", ref.problem, "why it names no version");
}

template <class Io> void describe(Io& io, Of<Io, AnnotationView>& note)
{
    io.type("Annotation", "What people wrote about a version.");
    io("number", note.number);
    io("step", note.step);
    io("text", note.text);
    io("by", note.by);
    io("t_us", note.tUs);
    io("local", note.isLocal);
}

template <class Io> void describe(Io& io, Of<Io, JournalEntryView>& entry)
{
    io.type("JournalEntry", "Something that was done to the run.");
    io("number", entry.number);
    io("act", entry.act);
    io("phase", entry.phase, "begun, done, failed, unreadable");
    io("by", entry.by);
    io("plan", nullIfEmpty(entry.plan), "hash");
    io("text", entry.text);
    io("keys", entry.keys);
    io("t_us", entry.tUs);
    io("local", entry.isLocal);
}

template <class Io> void describe(Io& io, Of<Io, AnnotationsView>& annotations)
{
    io.type("Annotations", "What people said of a run and did to it.");
    io("source", annotations.source);
    io("refs", annotations.refs);
    io("notes", annotations.notes);
    io("journal", annotations.journal, "oldest first");
    io("problems", annotations.problems);
}

template <class Io> void describe(Io& io, Of<Io, AnnotatedView>& annotated)
{
    io.type("AnnotatedReport", "What came of a word, a pin or a note.");
    io("source", annotated.source);
    io("text", annotated.text);
    io("done", annotated.isDone);
    io("was_there", annotated.wasThere, "it was so already; nothing was written");
    const Variant planned { "PlannedAnnotation", "A word or a note that is planned, as the command line writes it.",
                            "" };
    if (io.variant(!annotated.isDone, planned, [&](auto& out) { out("plan", annotated.plan); }))
        return;
    io("local", annotated.isLocal, "kept on the machine of the daemon alone");
}

} // namespace deltascope::app
