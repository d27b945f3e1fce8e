#pragma once

#include "deltascope/engine/tensor.h"

#include <cstdint>

namespace deltascope {

/// A bit pattern is a NaN if ((bits ^ flip) & mask) > limit.
template <class Word> struct NanRule {
    Word flip = 0;
    Word mask = 0;
    Word limit = 0;

    bool operator()(Word bits) const noexcept { return static_cast<Word>((bits ^ flip) & mask) > limit; }
};

template <class Word> NanRule<Word> nanRule(Dtype dtype) noexcept
{
    const auto rule = [](std::uint64_t flip, std::uint64_t mask, std::uint64_t limit) {
        return NanRule<Word> { static_cast<Word>(flip), static_cast<Word>(mask), static_cast<Word>(limit) };
    };
    switch (dtype) {
    case Dtype::BF16:
        return rule(0, 0x7fff, 0x7f80);
    case Dtype::F16:
        return rule(0, 0x7fff, 0x7c00);
    case Dtype::F32:
        return rule(0, 0x7fff'ffff, 0x7f80'0000);
    case Dtype::F64:
        return rule(0, 0x7fff'ffff'ffff'ffff, 0x7ff0'0000'0000'0000);
    case Dtype::F8E5M2:
        return rule(0, 0x7f, 0x7c);
    case Dtype::F8E4M3:
        return rule(0, 0x7f, 0x7e);
    case Dtype::F8E8M0:
        return rule(0, 0xff, 0xfe);
    case Dtype::F8E4M3Fnuz:
    case Dtype::F8E5M2Fnuz:
        return rule(0x7f, 0xff, 0xfe); // only 80
    default:
        return {};
    }
}

} // namespace deltascope
