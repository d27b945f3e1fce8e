#pragma once

#include "deltascope/engine/forwarding_store.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// A store whose small reads take what lies behind them along, as much as could be read in the time of a request
/// (StoreTraits::requestBytes): tensors of a few bytes are read one by one, from front to back, in several places of an
/// object. For as long as an operation reads objects as they were listed; a stretch that was taken along is not asked
/// for again. Keeps at most four stretches of each object and 32 MiB in all: what is added behind that passes. For
/// reading. Any thread.
class NearbyStore final : public ReadOnlyStore {
public:
    explicit NearbyStore(std::shared_ptr<const ObjectStore> inner);
    static constexpr std::size_t Stretches = 4; ///< of an object: positions and values of deltas, read by two threads
    static constexpr std::uint64_t MostBytes = std::uint64_t { 32 } << 20;

    /// Reads of other objects, and of those that name an identity, pass. Before the first read.
    void add(const std::vector<ObjectInfo>& objects);

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;

private:
    struct Stretch {
        std::uint64_t begin = 0;
        std::vector<std::byte> bytes;
        std::uint64_t usedAt = 0;

        bool holds(std::uint64_t offset, std::size_t count) const noexcept
        {
            return offset >= begin && offset - begin <= bytes.size() && count <= bytes.size() - (offset - begin);
        }
    };
    struct Kept {
        std::uint64_t sizeBytes = 0;
        std::mutex mutex; ///< guards what follows
        std::array<Stretch, Stretches> stretches;
        std::uint64_t uses = 0;

        bool give(std::uint64_t offset, MutableByteSpan out);
        void take(std::uint64_t begin, std::vector<std::byte> bytes);
    };

    std::uint64_t m_stretchBytes; ///< 0: all reads pass
    std::map<std::string, std::unique_ptr<Kept>, std::less<>> m_kept;
};

} // namespace deltascope
