#include "deltascope/engine/not_finite.h"

#include "deltascope/engine/number_format.h"
#include "diff/special_values.h"

namespace deltascope {

NotFiniteCounts countNotFinite(ByteSpan a, ByteSpan b, Dtype dtype) noexcept
{
    NotFiniteCounts counts;
    const auto count = [&](auto format) {
        using Bits = typename decltype(format)::Bits;
        if (!anySpecial(format, a) && !anySpecial(format, b))
            return;
        for (std::size_t at = 0; at < a.size(); at += sizeof(Bits)) {
            const Bits before = loadLe<Bits>(a, at);
            const Bits after = loadLe<Bits>(b, at);
            const bool ofA = format.isSpecial(before);
            const bool ofB = format.isSpecial(after);
            counts.a += ofA ? 1 : 0;
            counts.b += ofB ? 1 : 0;
            counts.different += before != after && (ofA || ofB) ? 1 : 0;
        }
    };
    withNumbers(dtype, count, [](auto) {});
    return counts;
}

} // namespace deltascope
