#include "format/common/zstd_mask_stream.h"

namespace deltascope {

ZstdMaskStream::ZstdMaskStream(BufferedExtent payload, const TensorInfo& target)
    : m_mask(std::move(payload), target.name)
{
}

Result<PatchPiece> ZstdMaskStream::next(std::uint64_t begin, std::uint64_t end)
{
    if (begin < m_at || end < begin)
        return fail(Code::Internal, "blocks of a tensor were asked for out of order");
    DS_CHECK(m_mask.skip(begin - m_at));
    m_at = end;
    if (m_block.size() < end - begin)
        m_block.resize(end - begin);
    const MutableByteSpan block = MutableByteSpan(m_block).first(end - begin);
    DS_CHECK(m_mask.read(block));
    return PatchPiece(XorBlock { block });
}

Result<void> ZstdMaskStream::finish() { return m_mask.expectEnd(); }

} // namespace deltascope
