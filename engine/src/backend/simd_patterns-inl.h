// Bit patterns of number types as vectors, for kernels that foreach_target.h compiles once per target: as all such
// headers of Highway, this one is read again for each target.
#if defined(DELTASCOPE_SIMD_PATTERNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DELTASCOPE_SIMD_PATTERNS_INL
#undef DELTASCOPE_SIMD_PATTERNS_INL
#else
#define DELTASCOPE_SIMD_PATTERNS_INL
#endif

#include "deltascope/engine/number_format.h"

#include <cstdint>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 // the baseline of x86, for which we have our own scalar code

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// As bytes, because elements need not be aligned.
template <class D> HWY_INLINE hn::VFromD<D> loadElements(D d, const std::uint8_t* at)
{
    return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), at));
}

/// Masks over bit patterns of a floating type, as the functions of FloatFormat.
template <class Format, class D> struct Patterns {
    using V = hn::VFromD<D>;
    using Word = hn::TFromD<D>; ///< at least as wide as the pattern

    static constexpr Word Sign = Format::signBit();
    static constexpr Word Magnitude = Sign - 1;
    static constexpr Word Infinity = static_cast<Word>(Magnitude >> Format::Mantissa << Format::Mantissa);

    static HWY_INLINE auto isNan(V bits)
    {
        const D d;
        if constexpr (Format::Special == Specials::NegativeZeroIsNan)
            return hn::Eq(bits, hn::Set(d, Sign));
        else if constexpr (Format::Special == Specials::AllOnesIsNan)
            return hn::Eq(hn::And(bits, hn::Set(d, Magnitude)), hn::Set(d, Magnitude));
        else
            return isAbove(bits, Infinity);
    }
    static HWY_INLINE auto isSpecial(V bits)
    {
        if constexpr (Format::Special == Specials::Ieee)
            return isAbove(bits, static_cast<Word>(Infinity - 1));
        else
            return isNan(bits);
    }
    static HWY_INLINE V ordered(V bits)
    {
        const D d;
        const hn::RebindToSigned<D> ds;
        const auto negative = hn::RebindMask(d, hn::Lt(hn::BitCast(ds, bits), hn::Zero(ds)));
        return hn::IfThenElse(negative, hn::Not(bits), hn::Or(bits, hn::Set(d, Sign)));
    }

private:
    /// Compares as signed numbers, which magnitudes are and every target has.
    static HWY_INLINE auto isAbove(V bits, Word limit)
    {
        const D d;
        const hn::RebindToSigned<D> ds;
        const auto magnitude = hn::BitCast(ds, hn::And(bits, hn::Set(d, Magnitude)));
        return hn::RebindMask(d, hn::Gt(magnitude, hn::Set(ds, static_cast<hn::TFromD<decltype(ds)>>(limit))));
    }
};

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#endif // per target
