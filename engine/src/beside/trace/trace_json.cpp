#include "beside/trace/trace_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace deltascope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string dump(const ordered_json& document)
{
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string textAt(const json& object, const char* key)
{
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// Takes a whole number if there is one. False for anything else under this key, and for numbers that mean nothing.
template <class Number> bool takeNumber(const json& object, const char* key, Number least, Number& number)
{
    const auto at = object.find(key);
    if (at == object.end())
        return true;
    if (!at->is_number_integer())
        return false;
    const bool fits = at->is_number_unsigned() ? std::in_range<Number>(at->get<std::uint64_t>())
                                               : std::in_range<Number>(at->get<std::int64_t>());
    if (fits)
        number = at->get<Number>();
    return fits && number >= least;
}

}

std::string spanToLine(const Span& span)
{
    return dump({ { "actor", span.actor },
                  { "phase", span.phase },
                  { "step", span.step },
                  { "epoch", span.epoch },
                  { "t0_us", span.t0Us },
                  { "t1_us", span.t1Us },
                  { "bytes", span.bytes },
                  { "note", span.note } });
}

std::optional<Span> spanFromLine(std::string_view line)
{
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    Span span;
    span.actor = textAt(object, "actor");
    span.phase = textAt(object, "phase");
    span.note = textAt(object, "note");
    const bool sound = takeNumber<std::int64_t>(object, "step", -1, span.step)
        && takeNumber(object, "epoch", 0, span.epoch) && takeNumber<std::int64_t>(object, "t0_us", 0, span.t0Us)
        && takeNumber<std::int64_t>(object, "t1_us", 0, span.t1Us)
        && takeNumber<std::uint64_t>(object, "bytes", 0, span.bytes);
    if (!sound || span.actor.empty() || span.phase.empty() || span.t1Us < span.t0Us)
        return std::nullopt;
    return span;
}

std::string heartbeatToText(const Heartbeat& heartbeat)
{
    return dump({ { "id", heartbeat.id },
                  { "engine", heartbeat.engine },
                  { "endpoint", heartbeat.endpoint },
                  { "state", heartbeat.state },
                  { "step", heartbeat.step },
                  { "epoch", heartbeat.epoch },
                  { "t_us", heartbeat.tUs },
                  { "period_s", heartbeat.periodSeconds },
                  { "detail", heartbeat.detail } });
}

std::optional<Heartbeat> heartbeatFromText(std::string_view text)
{
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    Heartbeat heartbeat;
    heartbeat.id = textAt(object, "id");
    heartbeat.engine = textAt(object, "engine");
    heartbeat.endpoint = textAt(object, "endpoint");
    heartbeat.state = textAt(object, "state");
    if (const auto period = object.find("period_s"); period != object.end())
        heartbeat.periodSeconds = period->is_number() ? period->get<double>() : 0;
    heartbeat.detail = textAt(object, "detail");
    const bool sound = takeNumber<std::int64_t>(object, "step", -1, heartbeat.step)
        && takeNumber(object, "epoch", 0, heartbeat.epoch)
        && takeNumber<std::int64_t>(object, "t_us", 0, heartbeat.tUs);
    if (!sound || heartbeat.id.empty() || !(heartbeat.periodSeconds > 0))
        return std::nullopt;
    return heartbeat;
}

} // namespace deltascope
