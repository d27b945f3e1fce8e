#pragma once

#include "block_memory.h"
#include "disk_cache.h"
#include "written_keys.h"

#include "deltascope/engine/forwarding_store.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What a store in front of a slow one has saved.
struct CacheCounters {
    std::uint64_t hits = 0; ///< leaves that were wanted and were in memory, or on their way for somebody else
    std::uint64_t diskHits = 0; ///< that were on disk
    std::uint64_t misses = 0; ///< that were asked of the store
    std::uint64_t bytesFromMemory = 0; ///< given to readers although they were given before; fewer rather than more
    std::uint64_t bytesFromDisk = 0; ///< read of the disk cache
    std::uint64_t bytesFromNetwork = 0; ///< asked of the store, whether anybody has read them or not
};

/// A store in front of one whose requests take time. Reads that name an identity come from memory and from disk where
/// they can, and many small ones become few large ones: see planFetch() for what is fetched. Reads that name none,
/// those that do not lie inside the object, and those above 64 MiB go to the inner store as they are, and so does all
/// but reading. Of an object that was put or removed through this store, older identities are asked of the inner store.
/// Where a read, or who has used its bytes, shows that those of an object are wrong, all that is kept of it is dropped.
/// The content hash of an object, where there is one, stands for its key and identity, but only within this store: what
/// another one says of its bytes is not believed here.
class CachingStore final : public ForwardingStore {
public:
    /// `disk`: null: memory alone.
    CachingStore(std::shared_ptr<ObjectStore> inner, std::shared_ptr<BlockMemory> memory,
                 std::shared_ptr<DiskCache> disk = nullptr);

    StoreTraits traits() const noexcept override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    /// What is missing of all of them together is one readMany() of the inner store, and one more for each 64 MiB.
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;
    /// Within half of the memory (BlockMemory::askAhead), by a few threads.
    ReadsAhead readAhead(ComingReads reads, TaskContext& task) const override;
    void forget(const ObjectRef& object) const override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    /// What is removed is not read from the cache any more.
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task) override;

    CacheCounters counters() const;

private:
    friend class CachedReads;
    friend class ReadAheadOfCache;

    struct Counts {
        std::atomic<std::uint64_t> hits = 0, diskHits = 0, misses = 0;
        std::atomic<std::uint64_t> bytesFromMemory = 0, bytesFromDisk = 0, bytesFromNetwork = 0;
    };

    bool mayCache(const RangeRead& wanted) const;
    bool mayCache(const ObjectRef& object, std::uint64_t offset, std::uint64_t bytes) const;
    std::string nameOf(const ObjectRef& object) const;
    void noteWritten(std::string_view key, const Result<ObjectInfo>& outcome);

    const std::shared_ptr<BlockMemory> m_memory;
    const std::shared_ptr<DiskCache> m_disk;
    const std::string m_uri;
    WrittenKeys m_written;
    mutable Counts m_counts;
    mutable std::atomic<unsigned> m_readsAhead = 0; ///< threads that fetch ahead
};

} // namespace deltascope
