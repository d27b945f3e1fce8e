#include "deltascope/engine/store_cleanup.h"
#include "trace/span_objects.h"
#include "trace/trace_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t ObjectBytes = 64U << 10;
constexpr std::int64_t ObjectUs = 10'000'000;
constexpr int MostCollisions = 1000;
constexpr std::size_t MostSingle = 128; ///< objects that were put alone
constexpr std::size_t MergedObjects = 64;
constexpr std::uint64_t MergedBytes = 512U << 10; ///< half of what readers take

std::string keyOf(std::string_view actor, const SpanObject& object)
{
    return fmt::format("{}{}/{}", SpanFolder, actor, spanObjectName(object));
}

}

SpanWriter::SpanWriter(std::shared_ptr<ObjectStore> store, std::string actor)
    : m_store(std::move(store))
    , m_actor(std::move(actor))
{
    TaskContext task; // numbers go on behind those of an earlier process of this actor
    const std::string folder = fmt::format("{}{}/", SpanFolder, m_actor);
    const auto listing = listAll(*m_store, folder, task);
    for (const ObjectInfo& object : listing.value_or(std::vector<ObjectInfo>())) {
        const std::optional<SpanObject> parsed = parseSpanObject(std::string_view(object.key).substr(folder.size()));
        if (!parsed)
            continue;
        m_next = std::max(m_next, parsed->last + 1);
        if (parsed->isMerged())
            m_unchecked.push_back(object.key);
        else
            m_single.emplace(parsed->first, object);
    }
    std::erase_if(m_unchecked, [&](const std::string& key) {
        const std::optional<SpanObject> range = parseSpanObject(std::string_view(key).substr(folder.size()));
        const auto within = m_single.lower_bound(range->first);
        return within == m_single.end() || within->first > range->last;
    });
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
        const std::int64_t number = m_next++;
        const MemoryPayload source(asBytes(m_lines));
        auto put = m_store->put(keyOf(m_actor, { number, number, 0 }), source, PutMode::IfAbsent, task);
        if (put)
            m_single.emplace(number, std::move(*put));
        if (put || put.error().code != Code::Exists)
            break;
    }
    m_lines.clear();
    tidy(task);
}

void SpanWriter::tidy(TaskContext& task)
{
    if (!m_mayTidy || !m_store->cleanup())
        return;
    for (const std::string& key : std::exchange(m_unchecked, {}))
        m_mayTidy = m_mayTidy && findMerged(key, task);
    if (m_mayTidy && m_single.size() > MostSingle)
        m_mayTidy = merge(task);
    if (m_mayTidy && !m_merged.empty())
        m_mayTidy = removeAll(std::exchange(m_merged, {}), task);
}

/// What a writer that was killed behind the merge has not removed.
bool SpanWriter::findMerged(std::string_view key, TaskContext& task)
{
    const Result<std::vector<std::byte>> content = readWhole(*m_store, key, MostSpanObjectBytes, task);
    if (!content)
        return false;
    const std::string_view text = asText(*content);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const auto single = m_single.find(sectionOf(text.substr(begin, end - begin)).value_or(0));
        begin = end + 1;
        if (single == m_single.end())
            continue;
        m_merged.push_back(std::move(single->second.key));
        m_single.erase(single);
    }
    return true;
}

/// The oldest objects become one: put whole before any of them is removed.
bool SpanWriter::merge(TaskContext& task)
{
    std::vector<ObjectInfo> objects;
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const auto& [number, object] : m_single) {
        if (objects.size() == MergedObjects || bytes + object.sizeBytes > MergedBytes)
            break;
        objects.push_back(object);
        texts.emplace_back(object.sizeBytes, '\0');
        bytes += object.sizeBytes;
    }
    std::vector<RangeRead> reads;
    for (std::size_t i = 0; i < objects.size(); ++i)
        reads.push_back({ objects[i], 0, std::as_writable_bytes(std::span(texts[i])) });
    const std::vector<Result<void>> outcomes = m_store->readMany(reads, task);
    if (objects.size() < 2 || !std::all_of(outcomes.begin(), outcomes.end(), [](const auto& got) { return !!got; }))
        return false;
    std::string merged;
    SpanObject name { m_single.begin()->first, 0, 1 };
    auto single = m_single.begin();
    for (std::string& text : texts) {
        name.last = single++->first;
        merged += sectionLine(name.last);
        if (!text.ends_with('\n'))
            text += '\n';
        for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
            const std::string_view line = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
            if (const std::optional<Span> span = spanFromLine(line))
                name.newestUs = std::max(name.newestUs, span->t1Us);
        }
        merged += text;
    }
    const MemoryPayload source(asBytes(merged));
    if (!m_store->put(keyOf(m_actor, name), source, PutMode::IfAbsent, task))
        return false;
    m_single.erase(m_single.begin(), single);
    for (ObjectInfo& object : objects)
        m_merged.push_back(std::move(object.key));
    return true;
}

bool SpanWriter::removeAll(const std::vector<std::string>& keys, TaskContext& task)
{
    const std::vector<Result<void>> outcomes = m_store->cleanup()->removeMany(keys, task);
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](const Result<void>& gone) { return gone || gone.error().code == Code::NotFound; });
}

} // namespace deltascope
