#pragma once

#include "store/xet/hash.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace deltascope::xet {

/// A xorb that is in the store and registered there.
struct KnownXorb {
    Hash hash;
    std::vector<Chunk> chunks;
};

/// Where chunks lie in the store of one bucket, so that later sessions of this process need not send them again. Holds
/// about 100 bytes a chunk; beyond `mostChunks` the oldest xorbs are forgotten. Any thread.
class KnownChunks {
public:
    struct Place {
        std::shared_ptr<const KnownXorb> xorb;
        std::uint32_t index = 0;
    };

    explicit KnownChunks(std::size_t mostChunks = std::size_t { 1 } << 19)
        : m_mostChunks(mostChunks)
    {
    }

    std::optional<Place> find(const Hash& chunk) const;
    /// Only what a shard has registered; a xorb that is known already is not added again.
    void add(std::shared_ptr<const KnownXorb> xorb);
    /// The store does not have it any more.
    void clear();

private:
    struct Slot {
        const KnownXorb* xorb = nullptr;
        std::uint32_t index = 0;
    };

    void dropOldest();

    const std::size_t m_mostChunks;
    mutable std::mutex m_mutex; ///< guards what follows
    std::size_t m_count = 0; ///< chunks of m_xorbs
    std::deque<std::shared_ptr<const KnownXorb>> m_xorbs; ///< the oldest first
    std::unordered_map<const KnownXorb*, std::shared_ptr<const KnownXorb>> m_owners;
    std::unordered_set<Hash, HashOfHash> m_hashes; ///< of m_xorbs
    std::unordered_map<Hash, Slot, HashOfHash> m_places;
};

} // namespace deltascope::xet
