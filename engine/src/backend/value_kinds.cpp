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

} // namespace deltascope
