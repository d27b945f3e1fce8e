#include "format/common/fetch_headers.h"

#include <algorithm>

namespace deltascope {

std::size_t fetchHeaders(const ObjectStore& store, const Layout& layout,
                         std::span<const VersionObjects* const> versions, TaskContext& task)
{
    constexpr std::uint64_t MostFrontBytes = std::uint64_t { 64 } << 20;
    constexpr std::uint64_t FrontBytes = std::uint64_t { 1 } << 20; // what stores that keep reads fetch of a front
    constexpr std::uint64_t LeastObjectBytes = std::uint64_t { 4 } << 10; // it takes to keep a small one
    if (!store.traits().keepsReads)
        return versions.size();
    std::byte first {};
    std::vector<RangeRead> reads;
    std::uint64_t bytes = 0;
    std::size_t taken = 0;
    for (; taken < versions.size() && (taken == 0 || bytes < MostFrontBytes); ++taken) {
        for (const ObjectInfo& object : versions[taken]->objects) {
            if (object.sizeBytes == 0 || bytes >= MostFrontBytes || !layout.indexReads(object.key))
                continue;
            reads.push_back({ object, 0, MutableByteSpan(&first, 1) });
            bytes += std::clamp(object.sizeBytes, LeastObjectBytes, FrontBytes);
        }
    }
    static_cast<void>(store.readMany(reads, task));
    return taken;
}

} // namespace deltascope
