#include "format/dcp/stored_checksums.h"

#include "format/common/quote_name.h"
#include "format/common/read_chunks.h"

#include <fmt/format.h>
#include <zlib.h>

namespace deltascope {

namespace {

Result<std::uint32_t> crcOf(const ObjectStore& store, const std::string& key, const Extent& extent, TaskContext& task)
{
    uLong crc = crc32_z(0, nullptr, 0);
    DS_CHECK(readChunks(store, key, extent.begin, extent.bytes, task, [&](ByteSpan chunk) {
        crc = crc32_z(crc, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size());
        task.addDone(chunk.size());
    }));
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
