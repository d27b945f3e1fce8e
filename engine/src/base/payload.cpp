#include "deltascope/base/payload.h"

#include <algorithm>

namespace deltascope {

Result<std::size_t> MemoryPayload::read(std::uint64_t offset, MutableByteSpan out) const
{
    const ByteSpan rest = m_bytes.subspan(std::min<std::uint64_t>(offset, m_bytes.size()));
    const std::size_t bytes = std::min(out.size(), rest.size());
    std::copy_n(rest.begin(), bytes, out.begin());
    return bytes;
}

Result<void> Payload::await(std::uint64_t, std::uint64_t, TaskContext&) const { return {}; }

} // namespace deltascope
