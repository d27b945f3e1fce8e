#include "backend/value_kinds.h"

#include "backend/special_values.h"
#include "deltascope/engine/number_format.h"

#include <cassert>

namespace deltascope {

namespace {

template <class Format> void countKindsOf(const Format& format, ByteSpan elements, ValueKinds& kinds) noexcept
{
    using Bits = typename Format::Bits;
    const bool special = anySpecial(format, elements);
    for (std::size_t at = 0; at < elements.size() && (special || !kinds.finiteDiffer); at += sizeof(Bits)) {
        const Bits bits = loadLe<Bits>(elements, at);
        if (format.isNan(bits)) {
            ++kinds.nan;
        } else if (format.isSpecial(bits)) {
            ++kinds.infinite;
        } else {
            kinds.finiteDiffer = kinds.finiteDiffer || bits != kinds.finite.value_or(bits);
            kinds.finite = bits;
        }
    }
}

}

void countKinds(ByteSpan elements, Dtype dtype, ValueKinds& kinds) noexcept
{
    const auto count = [&](auto format) { countKindsOf(format, elements, kinds); };
    [[maybe_unused]] const bool counted = withNumbers(dtype, count, count);
    assert(counted);
}

std::uint64_t countNotFiniteComplex(ByteSpan elements) noexcept
{
    constexpr NumberFormatOf<Dtype::F32> Part;
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < elements.size(); at += 8)
        found += Part.isSpecial(loadLe<std::uint32_t>(elements, at))
                || Part.isSpecial(loadLe<std::uint32_t>(elements, at + 4))
            ? 1
            : 0;
    return found;
}

} // namespace deltascope
