#include "trace/trace_json.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t ObjectBytes = 64U << 10;
constexpr std::int64_t ObjectUs = 10'000'000;
constexpr int MostCollisions = 1000;

}

SpanWriter::SpanWriter(std::shared_ptr<ObjectStore> store, std::string actor)
    : m_store(std::move(store))
    , m_actor(std::move(actor))
{
    TaskContext task; // numbers go on behind those of an earlier process of this actor
    const std::string folder = fmt::format("{}{}/", SpanFolder, m_actor);
    if (const auto listing = listAll(*m_store, folder, task); listing && !listing->empty()) {
        const std::string& last = listing->back().key;
        m_next = parseNumber(last.substr(folder.size(), 8)).value_or(0) + 1;
    }
}

SpanWriter::~SpanWriter() { flush(); }

void SpanWriter::add(Span span)
{
    const std::lock_guard lock(m_mutex);
    span.actor = m_actor;
    if (m_lines.empty())
        m_firstUs = span.t1Us;
    m_lines += spanToLine(span);
    if (m_lines.size() >= ObjectBytes || span.t1Us - m_firstUs >= ObjectUs)
        flushLocked();
}

void SpanWriter::flush()
{
    const std::lock_guard lock(m_mutex);
    flushLocked();
}

void SpanWriter::flushLocked()
{
    if (m_lines.empty())
        return;
    TaskContext task;
    for (int attempt = 0; attempt < MostCollisions; ++attempt) {
        const MemoryPayload source(asBytes(m_lines));
        const auto put = m_store->put(fmt::format("{}{}/{:08}.jsonl", SpanFolder, m_actor, m_next++), source,
                                      PutMode::IfAbsent, task);
        if (put || put.error().code != Code::Exists)
            break;
    }
    m_lines.clear();
}

} // namespace deltascope
