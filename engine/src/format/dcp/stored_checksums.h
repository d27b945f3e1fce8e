#pragma once

#include "deltascope/base/task.h"
#include "deltascope/engine/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// The CRC-32 that the archive of an item records over a storage.
struct StoredChecksum {
    std::string tensor; ///< the one that is a view of it
    Extent storage;
    /// 0 over a storage that is not empty means that the writer did not compute it
    /// (torch.serialization.set_crc32_options).
    std::uint32_t crc = 0;

    bool isRecorded() const noexcept { return crc != 0 && storage.bytes > 0; }
};

/// Reads every storage with a recorded CRC-32. Errors: Digest (names object and tensor), those of the store.
Result<void> checkStored(const ObjectStore& store, const VersionObjects& version,
                         const std::vector<StoredChecksum>& checksums, TaskContext& task);

} // namespace deltascope
