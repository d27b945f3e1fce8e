#include "beside/trace/span_tidy.h"

#include "beside/trace/trace_json.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MostSingle = 128;
constexpr std::size_t MergedObjects = 64;
constexpr std::uint64_t MergedBytes = MostTraceObjectBytes / 2;

}

void SpanTidy::note(const SpanObject& object, const ObjectInfo& info)
{
    if (object.isMerged())
        m_unchecked.push_back(object);
    else
        m_single.emplace(object.first, info);
}

void SpanTidy::run(TaskContext& task)
{
    if (m_hasFailed || !m_store.traits().removes)
        return;
    const std::vector<SpanObject> unchecked = std::exchange(m_unchecked, {});
    const bool isDone =
        std::all_of(unchecked.begin(), unchecked.end(), [&](const auto& object) { return findMerged(object, task); })
        && (m_single.size() <= MostSingle || merge(task)) && removeMerged(task);
    m_hasFailed = !isDone;
}

/// What a writer that was killed behind the merge has not removed.
bool SpanTidy::findMerged(const SpanObject& object, TaskContext& task)
{
    const auto within = m_single.lower_bound(object.first);
    if (within == m_single.end() || within->first > object.last)
        return true;
    const Result<std::vector<std::byte>> content = readWhole(m_store, keyOf(object), MostTraceObjectBytes, task);
    if (!content)
        return false;
    eachLine(asText(*content), [&](std::string_view line) {
        const auto single = m_single.find(sectionOf(line).value_or(0));
        if (single == m_single.end())
            return;
        m_merged.push_back(std::move(single->second.key));
        m_single.erase(single);
    });
    return true;
}

/// The oldest objects become one: put whole before any of them is removed.
bool SpanTidy::merge(TaskContext& task)
{
    auto end = m_single.begin();
    std::vector<std::string> texts;
    for (std::uint64_t bytes = 0; end != m_single.end() && texts.size() < MergedObjects; ++end) {
        bytes += end->second.sizeBytes;
        if (bytes > MergedBytes)
            break;
        texts.emplace_back(end->second.sizeBytes, '\0');
    }
    if (texts.size() < 2)
        return false;
    std::vector<RangeRead> reads;
    for (auto single = m_single.begin(); single != end; ++single)
        reads.push_back({ single->second, 0, std::as_writable_bytes(std::span(texts[reads.size()])) });
    const std::vector<Result<void>> outcomes = m_store.readMany(reads, task);
    if (!std::all_of(outcomes.begin(), outcomes.end(), [](const Result<void>& got) { return got.has_value(); }))
        return false;
    SpanObject object { m_single.begin()->first, std::prev(end)->first, 1 };
    std::string merged;
    auto single = m_single.begin();
    for (std::string& text : texts) {
        merged += sectionLine(single++->first);
        if (!text.ends_with('\n'))
            text += '\n';
        eachLine(text, [&](std::string_view line) {
            if (const std::optional<Span> span = spanFromLine(line))
                object.newestUs = std::max(object.newestUs, span->t1Us);
        });
        merged += text;
    }
    const MemoryPayload source(asBytes(merged));
    if (!m_store.put(keyOf(object), source, PutMode::IfAbsent, task))
        return false;
    for (single = m_single.begin(); single != end; single = m_single.erase(single))
        m_merged.push_back(std::move(single->second.key));
    return true;
}

bool SpanTidy::removeMerged(TaskContext& task)
{
    if (m_merged.empty())
        return true;
    const std::vector<std::string> merged = std::exchange(m_merged, {});
    const std::vector<Result<void>> outcomes = m_store.remove({ merged.begin(), merged.end() }, task);
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](const Result<void>& gone) { return gone || gone.error().code == Code::NotFound; });
}

} // namespace deltascope
