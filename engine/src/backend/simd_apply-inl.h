// What whole blocks do to a state, for kernels that foreach_target.h compiles once per target: as all such headers of
// Highway, this one is read again for each target.
#if defined(DELTASCOPE_SIMD_APPLY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DELTASCOPE_SIMD_APPLY_INL
#undef DELTASCOPE_SIMD_APPLY_INL
#else
#define DELTASCOPE_SIMD_APPLY_INL
#endif

#include "backend/simd_groups-inl.h"
#include "deltascope/engine/patch.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 // the baseline of x86, for which we have our own scalar code

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Replaces a block with a FullBlock, whole vectors. `minusZero`: zeroSign().
template <class Word>
PatchCounts replaceWords(std::uint8_t* block, const std::uint8_t* fresh, std::size_t elements, Word minusZero)
{
    const Tag<Word> d;
    const auto sign = hn::Set(d, minusZero);
    PatchCounts counts;
    for (std::size_t at = 0; at < elements * sizeof(Word); at += hn::Lanes(d) * sizeof(Word)) {
        const auto before = loadVector<Word>(block + at);
        const auto after = loadVector<Word>(fresh + at);
        const auto difference = hn::Xor(before, after);
        const auto differs = hn::Ne(difference, hn::Zero(d));
        hn::StoreU(hn::BitCast(ByteTag<Word>(), after), ByteTag<Word>(), block + at);
        counts.changed += hn::CountTrue(d, differs);
        counts.zeroSigns += hn::CountTrue(d, hn::And(differs, hn::Eq(hn::Or(before, after), sign)));
        if constexpr (sizeof(Word) == 2)
            counts.sameLowByte +=
                hn::CountTrue(d, hn::And(differs, hn::Eq(hn::And(difference, hn::Set(d, Word { 0xff })), hn::Zero(d))));
    }
    return counts;
}

/// Xors an XorBlock into a block, whole vectors; returns how many of its elements are not zero.
template <class Word> std::uint64_t maskWords(std::uint8_t* block, const std::uint8_t* mask, std::size_t elements)
{
    const Tag<Word> d;
    std::uint64_t changed = 0;
    for (std::size_t at = 0; at < elements * sizeof(Word); at += hn::Lanes(d) * sizeof(Word)) {
        const auto bits = loadVector<Word>(mask + at);
        const auto after = hn::Xor(loadVector<Word>(block + at), bits);
        hn::StoreU(hn::BitCast(ByteTag<Word>(), after), ByteTag<Word>(), block + at);
        changed += hn::CountTrue(d, hn::Ne(bits, hn::Zero(d)));
    }
    return changed;
}

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#endif // per target
