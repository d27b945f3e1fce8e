#include "trace/trace_json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

    using nlohmann::json;
    using nlohmann::ordered_json;

    std::string dump(const ordered_json& document) { return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"; }

    std::string textAt(const json& object, const char* key)
    {
        const auto at = object.find(key);
        return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
    }

    std::int64_t integerAt(const json& object, const char* key, std::int64_t absent)
    {
        const auto at = object.find(key);
        const bool fits = at != object.end() && at->is_number_integer()
            && (!at->is_number_unsigned() || at->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
        return fits ? at->get<std::int64_t>() : absent;
    }

    int epochAt(const json& object)
    {
        return static_cast<int>(std::clamp<std::int64_t>(integerAt(object, "epoch", 0), 0, INT32_MAX));
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
    span.step = integerAt(object, "step", -1);
    span.epoch = epochAt(object);
    span.t0Us = integerAt(object, "t0_us", 0);
    span.t1Us = integerAt(object, "t1_us", 0);
    span.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integerAt(object, "bytes", 0)));
    span.note = textAt(object, "note");
    if (span.actor.empty() || span.phase.empty() || span.t1Us < span.t0Us)
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
    heartbeat.step = integerAt(object, "step", -1);
    heartbeat.epoch = epochAt(object);
    heartbeat.tUs = integerAt(object, "t_us", 0);
    const auto period = object.find("period_s");
    heartbeat.periodSeconds = period != object.end() && period->is_number() ? period->get<double>() : 1;
    heartbeat.detail = textAt(object, "detail");
    if (heartbeat.id.empty() || !(heartbeat.periodSeconds > 0))
        return std::nullopt;
    return heartbeat;
}

} // namespace deltascope
