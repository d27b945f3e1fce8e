#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <cstdint>

namespace deltascope {

/// Adds one changed element to the moments of its block, and its square to `moved`; the caller counts the element. All
/// scalar code, on the processor and on devices, calls this.
template <class Format>
constexpr void addDifference(const Format& format, typename Format::Bits x, typename Format::Bits y, double& moved,
                             DiffMoments& out)
{
    if constexpr (!Format::IsInteger) {
        const bool ofX = format.isSpecial(x);
        const bool ofY = format.isSpecial(y);
        out.notFiniteChanged.a += ofX;
        out.notFiniteChanged.b += ofY;
        out.notFiniteChanged.different += ofX || ofY;
    }
    if (format.isNan(x) || format.isNan(y)) {
        ++out.nanInvolved;
        return;
    }
    out.signFlips += ((x ^ y) & format.signBit()) != 0;
    const std::uint64_t apart = distance(format.ordered(x), format.ordered(y));
    double gap = 0;
    if constexpr (Format::IsInteger) {
        gap = static_cast<double>(apart); // so that large numbers keep small distances
    } else {
        out.maxUlp = std::max(out.maxUlp, apart);
        if (format.isSpecial(x) || format.isSpecial(y))
            return;
        gap = format.value(x) - format.value(y); // infinite where F64 has no such number
        gap = gap < 0 ? -gap : gap;
    }
    out.maxAbs = std::max(out.maxAbs, gap);
    moved += gap * gap;
}

} // namespace deltascope
