#pragma once

#include "deltascope/engine/object_store.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace deltascope {

/// Requests that readers of a slow store share, beside one that each has anyway. Any thread.
class SpareRequests {
public:
    explicit SpareRequests(std::size_t count)
        : m_count(count)
    {
    }

    /// At most `wanted`; give them back.
    std::size_t take(std::size_t wanted) noexcept
    {
        std::size_t left = m_count;
        while (!m_count.compare_exchange_weak(left, left - std::min(left, wanted))) { }
        return std::min(left, wanted);
    }
    void giveBack(std::size_t count) noexcept { m_count += count; }

private:
    std::atomic<std::size_t> m_count;
};

/// Shows `bytes` of an object from byte `begin` on, from front to back, in chunks that stay in the second-level cache.
/// Where requests take time, chunks of up to 4 MiB are asked for together, as many as there are spare requests.
/// Errors: Canceled, those of ObjectStore::read.
Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, SpareRequests& spare, const std::function<void(ByteSpan)>& show);

/// The same with three spare requests of its own.
Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, const std::function<void(ByteSpan)>& show);

} // namespace deltascope
