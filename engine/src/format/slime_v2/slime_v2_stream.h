#pragma once

#include "deltascope/engine/patch.h"
#include "format/common/zstd_stream.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// A u32 count, as many u32 byte positions, as many byte values: AssignBytes pieces. Two decompressors walk the same
/// frame, one in the positions and one in the values, so that memory stays bounded.
class SlimeOverwriteStream final : public PatchStream {
public:
    /// Both inputs are the same extent.
    SlimeOverwriteStream(BufferedExtent positions, BufferedExtent values, const TensorInfo& target);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;
    Result<std::uint64_t> workingBytes() override;

private:
    /// Reads the count and brings the second decompressor to the values.
    Result<void> start();
    /// Positions in [begin, end) into m_positions; returns how many.
    Result<std::size_t> decode(std::uint64_t begin, std::uint64_t end);
    Result<void> fillStored();
    Result<void> checkStop() const;
    Result<void> skipTo(std::uint64_t begin);

    ZstdStream m_positionInput;
    ZstdStream m_valueInput;
    std::uint64_t m_bytes; ///< of the tensor
    std::uint64_t m_at = 0;
    bool m_started = false;
    std::uint64_t m_unread = 0; ///< positions that were not decompressed yet
    std::uint64_t m_smallest = 0; ///< smallest position that may come next
    std::vector<std::byte> m_stored; ///< decompressed positions
    std::size_t m_storedAt = 0; ///< in bytes
    std::size_t m_storedEnd = 0;
    std::vector<std::uint32_t> m_positions;
    std::vector<std::byte> m_values;
};

} // namespace deltascope
