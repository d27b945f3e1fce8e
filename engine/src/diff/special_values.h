#pragma once

#include "deltascope/base/bytes.h"

#include <cstddef>

namespace deltascope {

/// Whether a stretch holds NaN or infinity. One pass without branches, which compilers turn into vectors.
template <class Format> bool anySpecial(const Format& format, ByteSpan bytes)
{
    using Bits = typename Format::Bits;
    bool any = false;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Bits))
        any |= format.isSpecial(loadLe<Bits>(bytes, at));
    return any;
}

} // namespace deltascope
