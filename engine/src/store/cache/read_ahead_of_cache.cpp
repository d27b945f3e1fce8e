#include "read_ahead_of_cache.h"

#include "deltascope/base/threads.h"

#include <algorithm>
#include <chrono>

namespace deltascope {

namespace {

// Together they ask for 64 MiB at once: what 5 GBit/s carry in 100 ms.
constexpr std::size_t Threads = 4;
constexpr std::uint64_t BatchBytes = std::uint64_t { 16 } << 20;

constexpr auto LookForEnd = std::chrono::milliseconds(50); // a task tells nobody that it is to stop

} // namespace

ReadAheadOfCache::ReadAheadOfCache(const CachingStore& store, ComingReads reads, TaskContext& task)
    : m_store(store)
    , m_task(task)
    , m_reads(std::move(reads))
{
    m_store.m_memory->beginAhead();
    m_threads.reserve(Threads);
    for (std::size_t i = 0; i < Threads; ++i) {
        ++m_store.m_readsAhead;
        Result<std::jthread> thread = startThread([this] {
            run();
            --m_store.m_readsAhead;
        });
        if (!thread) { // readers fetch for themselves
            --m_store.m_readsAhead;
            return;
        }
        m_threads.push_back(std::move(*thread));
    }
}

ReadAheadOfCache::~ReadAheadOfCache()
{
    m_task.requestStop();
    m_store.m_memory->wakeAll();
    m_threads.clear();
    m_store.m_memory->endAhead();
}

void ReadAheadOfCache::run()
{
    const Result<void> outcome = caught([this]() -> Result<void> {
        for (;;) {
            DS_CHECK(m_task.paused() ? waitForTask() : m_task.going());
            const std::uint64_t news = m_store.m_memory->news();
            CachedReads batch(m_store, m_task);
            const Claimed claimed = claim(batch);
            if (claimed == Claimed::AllDone)
                return {};
            if (claimed == Claimed::NoRoom)
                m_store.m_memory->waitForNews(news, LookForEnd);
            else if (!batch.fetchAhead())
                return fail(Code::Io, "a request failed");
        }
    });
    if (!outcome)
        m_task.requestStop(); // of the other threads; readers go on, and report why
}

/// Readers of other tasks fetch what comes behind for themselves meanwhile.
Result<void> ReadAheadOfCache::waitForTask()
{
    --m_store.m_readsAhead;
    Result<void> outcome = m_task.checkpoint();
    ++m_store.m_readsAhead;
    return outcome;
}

ReadAheadOfCache::Claimed ReadAheadOfCache::claim(CachedReads& batch)
{
    const std::lock_guard lock(m_mutex);
    while (batch.aheadBytes() < BatchBytes) {
        if (!m_window && !takeNextWindow())
            return batch.aheadBytes() > 0 ? Claimed::Something : Claimed::AllDone;
        const LeafRange leaves = leavesOf(m_window->offset, m_window->bytes);
        if (!batch.addAhead(m_window->object, leaves))
            return batch.aheadBytes() > 0 ? Claimed::Something : Claimed::NoRoom;
        std::vector<bool>& ofObject = m_claimed[m_window->object.key];
        ofObject.resize(std::max<std::size_t>(ofObject.size(), leaves.end()));
        std::fill_n(ofObject.begin() + static_cast<std::ptrdiff_t>(leaves.first), leaves.count, true);
        m_window.reset();
    }
    return Claimed::Something;
}

/// Into m_window: the next bytes that lie in one window of an object, some of which were not claimed before. False: all
/// is taken.
bool ReadAheadOfCache::takeNextWindow()
{
    constexpr std::uint64_t WindowBytes = LeavesOfWindow * CacheLeafBytes;
    while (!m_task.stopRequested()) {
        if (!m_read || m_read->bytes == 0) {
            m_read = m_reads();
            if (!m_read)
                return false;
            if (!m_store.mayCache(m_read->object, m_read->offset, m_read->bytes)) {
                m_read->bytes = 0;
                continue;
            }
        }
        m_window = m_read;
        m_window->bytes = std::min(m_read->bytes, WindowBytes - m_read->offset % WindowBytes);
        m_read->offset += m_window->bytes;
        m_read->bytes -= m_window->bytes;
        const LeafRange leaves = leavesOf(m_window->offset, m_window->bytes);
        const auto known = m_claimed.find(m_window->object.key);
        for (std::uint64_t leaf = leaves.first; leaf < leaves.end(); ++leaf) {
            if (known == m_claimed.end() || leaf >= known->second.size() || !known->second[leaf])
                return true;
        }
        m_window.reset();
    }
    return false;
}

} // namespace deltascope
