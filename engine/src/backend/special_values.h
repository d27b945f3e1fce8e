#pragma once

#include "deltascope/base/bytes.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace deltascope {

/// Whether a stretch holds NaN or infinity. One pass without branches over stripes of a fixed length, which compilers
/// turn into vectors.
template <class Format> bool anySpecial(const Format& format, ByteSpan bytes)
{
    using Bits = typename Format::Bits;
    constexpr std::size_t StripeElements = 128;
    std::array<Bits, StripeElements> stripe;
    Bits any = 0;
    std::size_t at = 0;
    for (; at + sizeof stripe <= bytes.size(); at += sizeof stripe) {
        std::memcpy(stripe.data(), bytes.data() + at, sizeof stripe);
        for (const Bits bits : stripe)
            any |= static_cast<Bits>(format.isSpecial(bits));
    }
    for (; at < bytes.size(); at += sizeof(Bits))
        any |= static_cast<Bits>(format.isSpecial(loadLe<Bits>(bytes, at)));
    return any != 0;
}

} // namespace deltascope
