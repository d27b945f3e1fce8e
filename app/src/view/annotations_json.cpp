#include "deltascope/app/view/json.h"

#include "json_parts.h"

namespace deltascope::app {

namespace {

ordered_json textOrNull(const std::string& text) { return text.empty() ? ordered_json(nullptr) : ordered_json(text); }

ordered_json json(const AnnotationView& note)
{
    return { { "number", note.number }, { "step", note.step }, { "text", note.text },
             { "by", note.by },         { "t_us", note.tUs },  { "local", note.isLocal } };
}

ordered_json json(const JournalEntryView& entry)
{
    return {
        { "number", entry.number },         { "act", entry.act },   { "phase", entry.phase }, { "by", entry.by },
        { "plan", textOrNull(entry.plan) }, { "text", entry.text }, { "keys", entry.keys },   { "t_us", entry.tUs },
        { "local", entry.isLocal }
    };
}

template <class View> ordered_json jsonList(const std::vector<View>& views)
{
    ordered_json list = ordered_json::array();
    for (const View& view : views)
        list.push_back(json(view));
    return list;
}

}

ordered_json json(const RefView& ref)
{
    return { { "word", ref.word },           { "pin", ref.isPin },
             { "step", orNull(ref.step) },   { "epoch", ref.epoch },
             { "here", ref.isHere },         { "by", ref.by },
             { "why", textOrNull(ref.why) }, { "t_us", ref.tUs },
             { "local", ref.isLocal },       { "problem", ref.problem ? json(*ref.problem) : ordered_json(nullptr) } };
}

std::string toJson(const AnnotationsView& view)
{
    return dump({ { "source", view.source },
                  { "refs", jsonList(view.refs) },
                  { "notes", jsonList(view.notes) },
                  { "journal", jsonList(view.journal) },
                  { "problems", json(view.problems) } });
}

ordered_json json(const AnnotatedView& view)
{
    ordered_json out { { "source", view.source }, { "text", view.text } };
    out["done"] = view.isDone;
    out["was_there"] = view.wasThere;
    if (view.isDone)
        out["local"] = view.isLocal;
    else
        out["plan"] = json(view.plan);
    return out;
}

std::string toJson(const AnnotatedView& view) { return dump(json(view)); }

} // namespace deltascope::app
