#pragma once

#include "deltascope/engine/object_store.h"

#include <array>
#include <cstdint>
#include <vector>

namespace deltascope {

/// Small reads that lie close together in one object, read from front to back: the end of an item and the start of the
/// next one come with one request. The store and the task must outlive this. One thread.
class NearbyReader {
public:
    NearbyReader(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
        : m_store(&store)
        , m_task(&task)
        , m_object(&object)
    {
    }

    const ObjectInfo& object() const noexcept { return *m_object; }
    /// Fills all of `out`. Errors: Truncated (the object ends before), those of the store.
    Result<void> read(std::uint64_t offset, MutableByteSpan out);

private:
    struct Window {
        std::uint64_t begin = 0;
        std::vector<std::byte> bytes;

        bool holds(std::uint64_t offset, std::size_t count) const noexcept
        {
            return offset >= begin && offset - begin <= bytes.size() && count <= bytes.size() - (offset - begin);
        }
    };

    const ObjectStore* m_store;
    TaskContext* m_task;
    const ObjectInfo* m_object;
    std::array<Window, 2> m_windows; ///< around the end of one item and of the item before it
};

} // namespace deltascope
