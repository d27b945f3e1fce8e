#include "base/grace.h"
#include "beside/trace/span_objects.h"
#include "beside/trace/span_tidy.h"
#include "beside/trace/trace_json.h"
#include "deltascope/engine/beside_keys.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t ObjectBytes = 64U << 10;
constexpr std::int64_t ObjectUs = 10'000'000;
constexpr int MostCollisions = 1000;

}

SpanWriter::SpanWriter(std::shared_ptr<ObjectStore> store, std::string actor, const TaskContext* stops)
    : m_store(std::move(store))
    , m_actor(std::move(actor))
    , m_stops(stops)
    , m_folder(fmt::format("{}{}/", beside::Spans, m_actor))
    , m_tidy(std::make_unique<SpanTidy>(*m_store, m_folder))
{
    std::vector<ObjectInfo> listing; // numbers go on behind those of an earlier process of this actor
    withGrace(m_stops, [&](TaskContext& task) {
        listing = listAll(*m_store, m_folder, task).value_or(std::vector<ObjectInfo>());
    });
    for (const ObjectInfo& info : listing) {
        const auto object = parseSpanObject(std::string_view(info.key).substr(m_folder.size()));
        if (!object)
            continue;
        m_next = std::max(m_next, object->last + 1);
        m_tidy->note(*object, info);
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
    withGrace(m_stops, [this](TaskContext& task) { put(task); });
}

void SpanWriter::put(TaskContext& task)
{
    for (int attempt = 0; attempt < MostCollisions; ++attempt) {
        const SpanObject object { m_next, m_next, 0 };
        ++m_next;
        const MemoryPayload source(asBytes(m_lines));
        const auto put = m_store->put(m_folder + spanObjectName(object), source, PutMode::IfAbsent, task);
        if (put)
            m_tidy->note(object, *put);
        if (put || put.error().code != Code::Exists)
            break;
    }
    m_lines.clear();
    m_tidy->run(task);
}

} // namespace deltascope
