#include "format/dcp/stored_checksums.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <zlib.h>

namespace deltascope {

namespace {

constexpr std::uint64_t ChunkBytes = 512U << 10; // stays in the second-level cache

Result<std::uint32_t> crcOf(const ObjectStore& store, const std::string& key, const Extent& extent, TaskContext& task)
{
    std::vector<std::byte> chunk;
    uLong crc = crc32_z(0, nullptr, 0);
    for (std::uint64_t at = 0; at < extent.bytes; at += chunk.size()) {
        DS_CHECK(task.checkpoint());
        chunk.resize(std::min(ChunkBytes, extent.bytes - at));
        DS_CHECK(store.read(key, extent.begin + at, chunk));
        crc = crc32_z(crc, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size());
        task.addDone(chunk.size());
    }
    return static_cast<std::uint32_t>(crc);
}

}

Result<void> checkStored(const ObjectStore& store, const VersionObjects& version,
                         const std::vector<StoredChecksum>& checksums, TaskContext& task)
{
    for (const StoredChecksum& recorded : checksums) {
        if (!recorded.isRecorded())
            continue;
        const std::string& key = version.objects[recorded.storage.object].key;
        DS_TRY(const std::uint32_t crc, crcOf(store, key, recorded.storage, task));
        if (crc != recorded.crc)
            return fail(Code::Digest,
                        fmt::format("the stored bytes of {} have CRC-32 {:08x}, the archive around them records {:08x}",
                                    quoteName(recorded.tensor), crc, recorded.crc),
                        key);
    }
    return {};
}

} // namespace deltascope
