#pragma once

#include "cached_reads.h"
#include "caching_store.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace deltascope {

/// Fetches what coming reads need into the memory of a caching store before they come, by threads of its own: each leaf
/// once, in the order of the reads, and none that was read meanwhile. What lies on disk stays there. It waits where
/// there is no room, and ends with the first request that fails.
class ReadAheadOfCache final : public ReadAhead {
public:
    /// `store`, `task` and what `reads` refers to outlive it.
    ReadAheadOfCache(const CachingStore& store, ComingReads reads, TaskContext& task);
    ~ReadAheadOfCache() override;

private:
    enum class Claimed : std::uint8_t { Something, NoRoom, AllDone };

    void run();
    Result<void> waitForTask();
    Claimed claim(CachedReads& batch);
    bool takeNextWindow();

    const CachingStore& m_store;
    TaskContext m_task; ///< a part of the pass's, which ends with this
    std::mutex m_mutex; ///< guards what follows
    ComingReads m_reads;
    std::optional<ComingRead> m_read; ///< the present one, without what was taken of it
    std::optional<ComingRead> m_window; ///< taken, and not claimed yet
    std::map<std::string_view, std::vector<bool>> m_claimed; ///< the leaves of each object, by its key
    std::vector<std::jthread> m_threads;
};

} // namespace deltascope
