#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/unpacked_object.h"

#include <memory>
#include <string_view>

namespace deltascope {

// Payloads from before the codecs: pairs in a safetensors file, plain or in a zstd frame. Those of the first days hold
// differences (F32 beside a model of another type), later ones new values.

/// "delta_sparse.safetensors", "delta_sparse.safetensors.zst"
bool isOldGrailPayload(std::string_view file) noexcept;

/// Fills in entries and whether they are lossy. `packed`: set if the file is compressed. Errors: Hostile, those of the
/// store.
Result<void> readOldGrailPayload(const ObjectStore& store, const VersionObjects& version, std::uint32_t object,
                                 std::shared_ptr<UnpackedObject>& packed, VersionIndex& out, TaskContext& task);

/// `packed` is unpacked, or null. Errors: BaseMismatch, Unsupported (F32 beside an F32 tensor: differences or values,
/// nothing tells).
Result<std::unique_ptr<PatchStream>> openOldGrailEntry(const ObjectStore& store, const VersionObjects& version,
                                                       const std::shared_ptr<const UnpackedObject>& packed,
                                                       const VersionIndex& index, const TensorEntry& entry,
                                                       const TensorInfo& target, const StreamOptions& options);

} // namespace deltascope
