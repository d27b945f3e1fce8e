#pragma once

#include "deltascope/engine/backend.h"

#include <algorithm>

namespace deltascope {

/// Calls `use` with the moments of each block of two stretches of a type of numbers, in order. Sums that do not depend
/// on how a tensor is read need stretches that begin at a multiple of Backend::MomentElements in it.
template <class Use> void forEachMoments(const Backend& backend, ByteSpan a, ByteSpan b, Dtype dtype, Use use)
{
    const std::size_t blockBytes = Backend::MomentElements * bitsOf(dtype) / 8;
    for (std::size_t at = 0; at < a.size(); at += blockBytes) {
        const std::size_t bytes = std::min(blockBytes, a.size() - at);
        use(backend.moments(a.subspan(at, bytes), b.subspan(at, bytes), dtype));
    }
}

} // namespace deltascope
