#include "caching_store.h"

#include "cached_reads.h"
#include "read_ahead_of_cache.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::uint64_t LargestCachedObject = std::uint64_t { 1 } << 50; ///< a larger size is none
constexpr std::uint64_t LargestCachedRead = std::uint64_t { 64 } << 20;

} // namespace

CachingStore::CachingStore(std::shared_ptr<ObjectStore> inner, std::shared_ptr<BlockMemory> memory,
                           std::shared_ptr<DiskCache> disk)
    : ForwardingStore(std::move(inner))
    , m_memory(std::move(memory))
    , m_disk(std::move(disk))
    , m_uri(below().uri())
{
}

StoreTraits CachingStore::traits() const noexcept
{
    StoreTraits traits = below().traits();
    traits.keepsReads = true;
    return traits;
}

Result<void> CachingStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                                TaskContext& task) const
{
    const RangeRead wanted { object, offset, out };
    if (!mayCache(wanted)) {
        m_counts.bytesFromNetwork += out.size();
        return below().read(object, offset, out, task);
    }
    CachedReads reads(*this, task);
    reads.add(wanted);
    return std::move(reads.run().front());
}

std::vector<Result<void>> CachingStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    std::vector<Result<void>> outcomes(reads.size());
    std::vector<RangeRead> direct;
    std::vector<std::size_t> ofDirect;
    std::vector<std::size_t> ofRound;
    CachedReads round(*this, task);
    const auto runRound = [&] {
        std::vector<Result<void>> done = round.run();
        for (std::size_t i = 0; i < ofRound.size(); ++i)
            outcomes[ofRound[i]] = std::move(done[i]);
        ofRound.clear();
    };
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (!mayCache(reads[i])) {
            direct.push_back(reads[i]);
            ofDirect.push_back(i);
            m_counts.bytesFromNetwork += reads[i].out.size();
            continue;
        }
        if (round.wantedBytes() + reads[i].out.size() > LargestCachedRead)
            runRound();
        round.add(reads[i]);
        ofRound.push_back(i);
    }
    runRound();
    if (direct.empty())
        return outcomes;
    std::vector<Result<void>> done = below().readMany(direct, task);
    for (std::size_t i = 0; i < ofDirect.size(); ++i)
        outcomes[ofDirect[i]] = std::move(done[i]);
    return outcomes;
}

bool CachingStore::mayCache(const RangeRead& wanted) const
{
    return wanted.out.size() <= LargestCachedRead && mayCache(wanted.object, wanted.offset, wanted.out.size());
}

bool CachingStore::mayCache(const ObjectRef& object, std::uint64_t offset, std::uint64_t bytes) const
{
    const std::uint64_t size = object.sizeBytes.value_or(0);
    return !object.identity.empty() && size <= LargestCachedObject && bytes > 0 && offset < size
        && bytes <= size - offset && checkKey(object.key) && m_written.mayStand(object.key, object.identity);
}

ReadsAhead CachingStore::readAhead(ComingReads reads, TaskContext& task) const
{
    ReadsAhead ahead;
    ahead.push_back(std::make_unique<ReadAheadOfCache>(*this, std::move(reads), task));
    return ahead;
}

void CachingStore::forget(const ObjectRef& object) const
{
    if (!object.sizeBytes)
        return;
    const std::string name = nameOf(object);
    m_memory->forget(name);
    if (m_disk)
        m_disk->forget(name, *object.sizeBytes);
}

/// Two objects have one name only if their bytes are the same: no key and no address holds a NUL.
std::string CachingStore::nameOf(const ObjectRef& object) const
{
    using namespace std::string_view_literals;
    std::string name = m_uri;
    const auto add = [&](std::string_view part) { (name += '\0') += part; };
    add(std::to_string(*object.sizeBytes));
    if (object.contentHash.empty()) {
        add("object"sv);
        add(object.key);
        add(object.identity);
    } else {
        add("hash"sv);
        add(object.contentHash);
    }
    return name;
}

Result<ObjectInfo> CachingStore::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    Result<ObjectInfo> object = below().put(key, bytes, mode, task);
    noteWritten(key, object);
    return object;
}

std::vector<Result<void>> CachingStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    for (const ObjectRef& object : objects)
        m_written.note(object.key, {});
    return below().remove(objects, task);
}

Result<ObjectInfo> CachingStore::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    Result<ObjectInfo> object = below().copy(from, to, mode, task);
    noteWritten(to, object);
    return object;
}

void CachingStore::noteWritten(std::string_view key, const Result<ObjectInfo>& outcome)
{
    if (outcome)
        m_written.note(key, outcome->identity);
    else if (outcome.error().code != Code::Exists && outcome.error().code != Code::Usage)
        m_written.note(key, {}); // what the key stands for now is not known
}

CacheCounters CachingStore::counters() const
{
    return { m_counts.hits,          m_counts.diskHits,        m_counts.misses, m_counts.bytesFromMemory,
             m_counts.bytesFromDisk, m_counts.bytesFromNetwork };
}

} // namespace deltascope
