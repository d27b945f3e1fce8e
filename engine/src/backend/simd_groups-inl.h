// Which elements of two stretches differ, for kernels that foreach_target.h compiles once per target: as all such
// headers of Highway, this one is read again for each target.
#if defined(DELTASCOPE_SIMD_GROUPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DELTASCOPE_SIMD_GROUPS_INL
#undef DELTASCOPE_SIMD_GROUPS_INL
#else
#define DELTASCOPE_SIMD_GROUPS_INL
#endif

#include <bit>
#include <cstdint>
#include <cstring>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 // the baseline of x86, for which we have our own scalar code

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Elements are compared 64 at a time; the outcome is a word whose bit i says that element i differs.
constexpr std::size_t GroupElements = 64;

/// How far ahead of the comparison both inputs are asked for. The kernels are bound by memory; without this, work on
/// what was found keeps the next loads waiting (measured at 1 % changes: 0.71 to 0.80 of a plain two-stream read
/// without, 1.0 with).
constexpr std::uintptr_t PrefetchBytes = 1024;
constexpr std::size_t CacheLineBytes = 64;

template <class Word> using Tag = hn::CappedTag<Word, GroupElements>;
template <class Word> using ByteTag = hn::Repartition<std::uint8_t, Tag<Word>>;

/// As bytes, because elements need not be aligned.
template <class Word> HWY_INLINE hn::VFromD<Tag<Word>> loadVector(const std::uint8_t* at)
{
    return hn::BitCast(Tag<Word>(), hn::LoadU(ByteTag<Word>(), at));
}

template <class Word> HWY_INLINE Word loadWord(const std::uint8_t* at)
{
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// A hint: reads nothing, so it may lie behind the end.
template <class Word> HWY_INLINE void prefetchGroup(const std::uint8_t* at)
{
    const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(at) + PrefetchBytes;
    for (std::size_t line = 0; line < GroupElements * sizeof(Word); line += CacheLineBytes)
        hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(ahead + line));
}

template <class Word> HWY_INLINE std::uint64_t differingBits(const std::uint8_t* before, const std::uint8_t* after)
{
    prefetchGroup<Word>(before);
    prefetchGroup<Word>(after);
    const Tag<Word> d;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < GroupElements; i += hn::Lanes(d)) {
        const std::size_t at = i * sizeof(Word);
        std::uint8_t stored[8] = {};
        hn::StoreMaskBits(d, hn::Ne(loadVector<Word>(before + at), loadVector<Word>(after + at)), stored);
        bits |= loadWord<std::uint64_t>(stored) << i;
    }
    return bits;
}

/// The same for fewer than GroupElements.
template <class Word>
std::uint64_t differingBitsOfSome(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements)
{
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < elements; ++i) {
        const std::size_t at = i * sizeof(Word);
        bits |= std::uint64_t { loadWord<Word>(before + at) != loadWord<Word>(after + at) } << i;
    }
    return bits;
}

HWY_INLINE std::size_t countBits(std::uint64_t bits) { return static_cast<std::size_t>(__builtin_popcountll(bits)); }

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/// Appends first + i for every set bit i. Without branches: equally fast at any density, and nothing to mispredict.
HWY_INLINE std::uint32_t* appendPositions(std::uint64_t bits, std::uint32_t first, std::uint32_t* out)
{
    const hn::ScalableTag<std::uint32_t> d;
    constexpr std::size_t Lanes = hn::MaxLanes(d);
    auto positions = hn::Add(hn::Iota(d, 0), hn::Set(d, first));
    for (std::size_t i = 0; i < GroupElements; i += Lanes, bits >>= Lanes) {
        const auto some = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
        hn::StoreU(hn::Compress(positions, some), d, out);
        out += hn::CountTrue(d, some);
        positions = hn::Add(positions, hn::Set(d, static_cast<std::uint32_t>(Lanes)));
    }
    return out;
}

#else

/// Appends first + i for every set bit i. Compressing vectors would cost a table look-up per 8 elements here (measured:
/// 7 times slower), so bits are taken one by one; the first ones always, because whether there are some is hard to
/// predict.
HWY_INLINE std::uint32_t* appendPositions(std::uint64_t bits, std::uint32_t first, std::uint32_t* out)
{
    constexpr std::size_t Always = 4;
    const std::size_t found = countBits(bits);
    for (std::size_t i = 0; i < Always; ++i, bits &= bits - 1)
        out[i] = first + static_cast<std::uint32_t>(std::countr_zero(bits));
    if (HWY_UNLIKELY(found > Always)) {
        for (std::size_t i = Always; i < 2 * Always; ++i, bits &= bits - 1)
            out[i] = first + static_cast<std::uint32_t>(std::countr_zero(bits));
        for (std::size_t i = 2 * Always; i < found; ++i, bits &= bits - 1)
            out[i] = first + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return out + found;
}

#endif

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#endif // per target
