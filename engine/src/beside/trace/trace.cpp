#include "beside/trace/span_objects.h"
#include "beside/trace/trace_json.h"
#include "deltascope/engine/beside_keys.h"
#include "store/read_texts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope {

namespace {

constexpr std::size_t ObjectsAtOnce = 64;

std::vector<ObjectInfo> below(const std::vector<ObjectInfo>& listing, std::string_view folder)
{
    std::vector<ObjectInfo> objects;
    std::copy_if(listing.begin(), listing.end(), std::back_inserter(objects),
                 [&](const ObjectInfo& object) { return object.key.starts_with(folder); });
    return objects;
}

/// The content of each object, or nothing where it cannot be read now. One that is too large to be ours is empty.
Result<std::vector<std::optional<std::string>>> readableTexts(const ObjectStore& store,
                                                              const std::vector<ObjectInfo>& objects, TaskContext& task)
{
    DS_TRY(std::vector<Result<std::string>> read, readTexts(store, objects, MostTraceObjectBytes, task));
    std::vector<std::optional<std::string>> texts;
    for (Result<std::string>& text : read) {
        if (text)
            texts.emplace_back(std::move(*text));
        else
            texts.push_back(text.error().code == Code::Hostile ? std::optional(std::string()) : std::nullopt);
    }
    return texts;
}

/// When the newest span of an object ended, as far as its listing tells.
std::int64_t newestOf(const ObjectInfo& object)
{
    const std::string_view key = object.key;
    const std::optional<SpanObject> parsed = parseSpanObject(key.substr(key.rfind('/') + 1));
    return parsed && parsed->isMerged() ? parsed->newestUs : object.modifiedUs;
}

}

Result<void> putHeartbeat(ObjectStore& store, const Heartbeat& heartbeat, TaskContext& task)
{
    const std::string text = heartbeatToText(heartbeat);
    const MemoryPayload source(asBytes(text));
    DS_TRY([[maybe_unused]] const ObjectInfo put,
           store.put(fmt::format("{}{}.json", beside::Replicas, heartbeat.id), source, PutMode::Replace, task));
    return {};
}

Result<Trace> TraceReader::read(const ObjectStore& store, TaskContext& task)
{
    DS_TRY(const std::vector<ObjectInfo> beside, listAll(store, beside::Root, task));
    return read(store, beside, task);
}

Result<Trace> TraceReader::read(const ObjectStore& store, const std::vector<ObjectInfo>& beside, TaskContext& task)
{
    DS_CHECK(readSpans(store, below(beside, beside::Spans), task));
    DS_CHECK(readReplicas(store, below(beside, beside::Replicas), task));
    Trace trace;
    trace.spans = m_spans;
    std::map<std::string_view, const Heartbeat*> newest; // by replica: copies of its object say what it said once
    for (const auto& [key, known] : m_replicas) {
        if (!known.heartbeat)
            continue;
        const Heartbeat*& of = newest.try_emplace(known.heartbeat->id, &*known.heartbeat).first->second;
        if (known.heartbeat->tUs > of->tUs)
            of = &*known.heartbeat;
    }
    for (const auto& [id, heartbeat] : newest)
        trace.replicas.push_back(*heartbeat);
    return trace;
}

/// Returns how many there were that were not known.
std::size_t TraceReader::addSpans(const std::string& key, std::string_view text)
{
    const std::size_t before = m_spans.size();
    const std::string folder = key.substr(0, key.rfind('/') + 1);
    bool isNew = m_seen.insert(key).second;
    eachLine(text, [&](std::string_view line) {
        if (const std::optional<std::int64_t> section = sectionOf(line))
            isNew = m_seen.insert(folder + spanObjectName({ *section, *section, 0 })).second;
        else if (std::optional<Span> span = isNew ? spanFromLine(line) : std::nullopt)
            m_spans.push_back(std::move(*span));
    });
    return m_spans.size() - before;
}

Result<void> TraceReader::readSpans(const ObjectStore& store, std::vector<ObjectInfo> objects, TaskContext& task)
{
    std::erase_if(objects, [&](const ObjectInfo& object) { return m_seen.contains(object.key); });
    std::stable_sort(objects.begin(), objects.end(),
                     [](const ObjectInfo& a, const ObjectInfo& b) { return newestOf(a) > newestOf(b); });
    std::size_t fresh = 0;
    for (std::size_t at = 0; at < objects.size(); at += ObjectsAtOnce) {
        const std::size_t end = std::min(objects.size(), at + ObjectsAtOnce);
        if (fresh >= MostSpans) { // what is older ended before all of those
            for (; at < objects.size(); ++at)
                m_seen.insert(objects[at].key);
            break;
        }
        DS_TRY(std::vector<std::optional<std::string>> texts,
               readableTexts(store,
                             { objects.begin() + static_cast<std::ptrdiff_t>(at),
                               objects.begin() + static_cast<std::ptrdiff_t>(end) },
                             task));
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (texts[i])
                fresh += addSpans(objects[at + i].key, *texts[i]);
        }
    }
    std::stable_sort(m_spans.begin(), m_spans.end(), [](const Span& a, const Span& b) { return a.t1Us < b.t1Us; });
    if (m_spans.size() > MostSpans)
        m_spans.erase(m_spans.begin(), m_spans.end() - MostSpans);
    return {};
}

Result<void> TraceReader::readReplicas(const ObjectStore& store, std::vector<ObjectInfo> objects, TaskContext& task)
{
    std::map<std::string, KnownReplica, std::less<>> replicas;
    std::erase_if(objects, [&](const ObjectInfo& object) {
        const auto known = m_replicas.find(object.key);
        const bool isKnown = known != m_replicas.end() && known->second.identity == object.identity;
        if (isKnown)
            replicas.insert(*known);
        return isKnown;
    });
    DS_TRY(std::vector<std::optional<std::string>> texts, readableTexts(store, objects, task));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const ObjectInfo& object = objects[i];
        if (!texts[i]) { // it beats: the listing knows it as it was a moment ago
            const auto now = readWhole(store, object.key, MostTraceObjectBytes, task);
            if (!now && now.error().code == Code::Canceled)
                return fail(now.error());
            if (now)
                texts[i] = std::string(asText(*now));
        }
        const auto known = m_replicas.find(object.key);
        if (texts[i]) {
            KnownReplica replica { object.identity, heartbeatFromText(*texts[i]) };
            if (replica.heartbeat) {
                const bool saidBefore = known != m_replicas.end() && known->second.heartbeat
                    && known->second.heartbeat->step == replica.heartbeat->step;
                replica.heartbeat->stepSinceUs = saidBefore ? known->second.heartbeat->stepSinceUs : object.modifiedUs;
            }
            replicas.insert_or_assign(object.key, std::move(replica));
        } else if (known != m_replicas.end())
            replicas.insert(*known);
    }
    m_replicas = std::move(replicas);
    return {};
}

} // namespace deltascope
