#include "trace/trace_json.h"

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

    template <class Number>
    Number numberAt(const json& object, const char* key, Number absent)
    {
        const auto at = object.find(key);
        return at != object.end() && at->is_number() ? at->get<Number>() : absent;
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
    span.step = numberAt<std::int64_t>(object, "step", -1);
    span.epoch = numberAt<int>(object, "epoch", 0);
    span.t0Us = numberAt<std::int64_t>(object, "t0_us", 0);
    span.t1Us = numberAt<std::int64_t>(object, "t1_us", 0);
    span.bytes = numberAt<std::uint64_t>(object, "bytes", 0);
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
    heartbeat.step = numberAt<std::int64_t>(object, "step", -1);
    heartbeat.epoch = numberAt<int>(object, "epoch", 0);
    heartbeat.tUs = numberAt<std::int64_t>(object, "t_us", 0);
    heartbeat.periodSeconds = numberAt<double>(object, "period_s", 1);
    heartbeat.detail = textAt(object, "detail");
    if (heartbeat.id.empty() || !(heartbeat.periodSeconds > 0))
        return std::nullopt;
    return heartbeat;
}

} // namespace deltascope
