#pragma once

#include "deltascope/engine/patch.h"
#include "format/common/zstd_stream.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// One zstd frame with a mask as long as the tensor: XorBlock pieces.
class ZstdMaskStream final : public PatchStream {
public:
    ZstdMaskStream(BufferedExtent payload, const TensorInfo& target);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;
    Result<std::uint64_t> workingBytes() override { return m_mask.workingBytes(); }

private:
    ZstdStream m_mask;
    std::uint64_t m_at = 0;
    std::vector<std::byte> m_block;
};

} // namespace deltascope
