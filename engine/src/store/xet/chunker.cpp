#include "store/xet/chunker.h"

#include "store/xet/gear_table.h"

#include <algorithm>
#include <cstdint>

namespace deltascope::xet {

std::size_t nextChunkBytes(ByteSpan rest, bool isEnd) noexcept
{
    constexpr std::uint64_t CutMask = 0xFFFF'0000'0000'0000;
    constexpr std::size_t Window = 64; // a byte is shifted out of the hash after as many others
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(rest.data());
    const std::size_t end = std::min(rest.size(), MostChunkBytes);
    std::uint64_t hash = 0;
    std::size_t at = std::min(LeastChunkBytes - Window, end);
    for (const std::size_t first = std::min(LeastChunkBytes - 1, end); at < first; ++at)
        hash = (hash << 1) + GearTable[bytes[at]];
    while (at < end) {
        hash = (hash << 1) + GearTable[bytes[at++]];
        if ((hash & CutMask) == 0)
            return at;
    }
    return isEnd || end == MostChunkBytes ? end : 0;
}

} // namespace deltascope::xet
