#include "trace/trace_json.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MostSpans = 5'000;
constexpr std::uint64_t MostObjectBytes = 1U << 20;

}

Result<void> putHeartbeat(ObjectStore& store, const Heartbeat& heartbeat, TaskContext& task)
{
    const std::string text = heartbeatToText(heartbeat);
    const MemoryPayload source(asBytes(text));
    DS_TRY([[maybe_unused]] const ObjectInfo put,
           store.put(fmt::format("{}{}.json", ReplicaFolder, heartbeat.id), source, PutMode::Replace, task));
    return {};
}

Result<Trace> TraceReader::read(const ObjectStore& store, TaskContext& task)
{
    Trace trace;
    DS_TRY(const std::vector<ObjectInfo> spans, listAll(store, SpanFolder, task));
    for (const ObjectInfo& object : spans) {
        if (m_seen.contains(object.key))
            continue;
        const auto bytes = readWhole(store, object.key, MostObjectBytes, task);
        if (bytes || bytes.error().code == Code::Hostile) // else it may be there the next time
            m_seen.insert(object.key);
        if (!bytes)
            continue;
        const std::string_view text = asText(*bytes);
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            if (std::optional<Span> span = spanFromLine(text.substr(begin, end - begin)))
                m_spans.push_back(std::move(*span));
            begin = end + 1;
        }
    }
    std::stable_sort(m_spans.begin(), m_spans.end(), [](const Span& a, const Span& b) { return a.t1Us < b.t1Us; });
    if (m_spans.size() > MostSpans)
        m_spans.erase(m_spans.begin(), m_spans.end() - MostSpans);
    trace.spans = m_spans;

    DS_TRY(const std::vector<ObjectInfo> replicas, listAll(store, ReplicaFolder, task));
    for (const ObjectInfo& object : replicas) {
        const auto bytes = readWhole(store, object.key, MostObjectBytes, task);
        if (!bytes)
            continue;
        if (std::optional<Heartbeat> heartbeat = heartbeatFromText(asText(*bytes)))
            trace.replicas.push_back(std::move(*heartbeat));
    }
    return trace;
}

} // namespace deltascope
