#include "format/common/read_chunks.h"

#include <algorithm>
#include <vector>

namespace deltascope {

Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, const std::function<void(ByteSpan)>& show)
{
    constexpr std::uint64_t LeastChunkBytes = 512U << 10;
    constexpr std::uint64_t MostChunkBytes = 4U << 20;
    const std::uint64_t chunkBytes = std::clamp(store.traits().requestBytes, LeastChunkBytes, MostChunkBytes);
    std::vector<std::byte> chunk;
    for (std::uint64_t at = 0; at < bytes; at += chunk.size()) {
        DS_CHECK(task.checkpoint());
        chunk.resize(std::min(chunkBytes, bytes - at));
        DS_CHECK(store.read(key, begin + at, chunk, task));
        show(chunk);
    }
    return {};
}

} // namespace deltascope
