#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/unpacked_object.h"

#include <vector>

namespace deltascope {

/// How one tensor's positions are stored in a payload: TensorEntry::encoding of the codecs.
enum class GrailPositions : std::uint8_t {
    Flat, ///< i32 differences of flat positions (codec 2)
    Rows8, ///< u8 row differences (codec 31), columns as the second digit says
    Rows16,
    Rows32, ///< i32 (codecs 3 and 31)
};
struct GrailEncoding {
    GrailPositions positions = GrailPositions::Flat;
    bool wideColumns = false; ///< i32 instead of u16

    std::uint8_t packed() const noexcept
    {
        return static_cast<std::uint8_t>(static_cast<unsigned>(positions) * 2 + (wideColumns ? 1 : 0));
    }
    static GrailEncoding unpack(std::uint8_t packed) noexcept
    {
        return { static_cast<GrailPositions>(packed / 2), packed % 2 != 0 };
    }
};

/// The entries of delta_sparse.bin.zst, from its header alone. Extents count in the content: positions or rows, columns
/// (not for Flat), values. `object`: index in the version. Errors: Hostile, Unsupported, those of the store.
Result<std::vector<TensorEntry>> readGrailPayload(const UnpackedObject& payload, std::uint32_t object,
                                                  TaskContext& task);

/// Opens an entry. `payload` is unpacked. Errors: BaseMismatch.
Result<std::unique_ptr<PatchStream>> openGrailEntry(const std::shared_ptr<const UnpackedObject>& payload,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options);

} // namespace deltascope
