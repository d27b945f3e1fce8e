#include "backend/gather.h"

#include <cassert>

namespace deltascope {

namespace {

template <class Bits>
void gatherOf(ByteSpan block, std::span<const std::uint32_t> elements, MutableByteSpan out) noexcept
{
    for (std::size_t i = 0; i < elements.size(); ++i)
        storeLe<Bits>(out, i * sizeof(Bits), loadLe<Bits>(block, std::size_t { elements[i] } * sizeof(Bits)));
}

}

void gather(ByteSpan block, std::span<const std::uint32_t> elements, unsigned elementBytes, std::vector<std::byte>& out)
{
    out.resize(elements.size() * elementBytes);
    switch (elementBytes) {
    case 1:
        return gatherOf<std::uint8_t>(block, elements, out);
    case 2:
        return gatherOf<std::uint16_t>(block, elements, out);
    case 4:
        return gatherOf<std::uint32_t>(block, elements, out);
    default:
        assert(elementBytes == 8);
        return gatherOf<std::uint64_t>(block, elements, out);
    }
}

} // namespace deltascope
