#include "beside/beside_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string dump(const ordered_json& document)
{
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void addTarget(ordered_json& document, const RefTarget& target)
{
    document["step"] = target.step;
    document["epoch"] = target.epoch;
    document["root"] = target.root;
    document["objects"] = target.objects;
}

/// Throws json::exception for what is not of this form.
RefTarget targetOf(const json& object)
{
    RefTarget target;
    object.at("step").get_to(target.step);
    object.at("epoch").get_to(target.epoch);
    object.at("root").get_to(target.root);
    object.at("objects").get_to(target.objects);
    return target;
}

template <class Value, class Read> std::optional<Value> parse(std::string_view text, Read read)
{
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    try {
        Value value;
        read(object, value);
        return value;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

} // namespace

std::string refToText(const Ref& ref)
{
    ordered_json document { { "by", ref.by }, { "why", ref.why }, { "t_us", ref.tUs } };
    if (ref.target)
        addTarget(document, *ref.target);
    else
        document["step"] = nullptr;
    return dump(document);
}

std::optional<Ref> refFromText(std::string_view text)
{
    return parse<Ref>(text, [](const json& object, Ref& ref) {
        object.at("by").get_to(ref.by);
        object.at("why").get_to(ref.why);
        object.at("t_us").get_to(ref.tUs);
        if (!object.at("step").is_null())
            ref.target = targetOf(object);
    });
}

std::string noteToText(const Note& note)
{
    ordered_json document { { "by", note.by }, { "t_us", note.tUs }, { "text", note.text } };
    addTarget(document, note.target);
    return dump(document);
}

std::optional<Note> noteFromText(std::string_view text)
{
    return parse<Note>(text, [](const json& object, Note& note) {
        object.at("by").get_to(note.by);
        object.at("t_us").get_to(note.tUs);
        object.at("text").get_to(note.text);
        note.target = targetOf(object);
    });
}

std::string entryToText(const JournalEntry& entry)
{
    return dump({ { "act", entry.act },
                  { "phase", entry.phase },
                  { "by", entry.by },
                  { "plan", entry.plan },
                  { "text", entry.text },
                  { "keys", entry.keys },
                  { "t_us", entry.tUs } });
}

std::optional<JournalEntry> entryFromText(std::string_view text)
{
    return parse<JournalEntry>(text, [](const json& object, JournalEntry& entry) {
        object.at("act").get_to(entry.act);
        object.at("phase").get_to(entry.phase);
        object.at("by").get_to(entry.by);
        object.at("plan").get_to(entry.plan);
        object.at("text").get_to(entry.text);
        object.at("keys").get_to(entry.keys);
        object.at("t_us").get_to(entry.tUs);
    });
}

} // namespace deltascope
