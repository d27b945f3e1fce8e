// Counts of steps with vectors. As simd_diff.cpp, this file is compiled once per target by foreach_target.h.
#include "backend/simd_targets.h"
#include "backend/steps.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/simd_steps.cpp"
#include <hwy/foreach_target.h> // before highway.h
#include <hwy/highway.h>

#include "backend/simd_groups-inl.h" // behind highway.h
#include "backend/simd_patterns-inl.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 // the baseline of x86, for which we have our own scalar code

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Counts how many distances of a chunk are above each power of two, until none is: most elements move by few steps,
/// and adding to bins one by one waits for the same few of them (measured: 8 to 15 times slower).
template <class Format> class StepMeter {
    using Word = typename Format::Bits;
    using Words = Tag<Word>;
    using V = hn::VFromD<Words>;
    static constexpr bool HasLowByte = sizeof(Word) == 2;

public:
    static constexpr std::size_t ChunkElements = 2048 / sizeof(Word); ///< whole groups, in the first-level cache

    explicit StepMeter(StepCounts& counts)
        : m_counts(counts)
    {
    }

    /// `elements`: whole groups, at most a chunk.
    void add(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements)
    {
        const Words d;
        V any = hn::Zero(d);
        V anySame = hn::Zero(d);
        for (std::size_t i = 0; i < elements; i += hn::Lanes(d)) {
            const V x = loadVector<Word>(before + i * sizeof(Word));
            const V y = loadVector<Word>(after + i * sizeof(Word));
            const V apart = distance(x, y);
            hn::Store(apart, d, m_apart + i);
            any = hn::Or(any, apart);
            if constexpr (HasLowByte) {
                const auto same = hn::Eq(hn::And(hn::Xor(x, y), hn::Set(d, 0xff)), hn::Zero(d));
                const V kept = hn::IfThenElseZero(same, apart);
                hn::Store(kept, d, m_sameLowByte + i);
                anySame = hn::Or(anySame, kept);
            }
        }
        if (!hn::AllTrue(d, hn::Eq(any, hn::Zero(d))))
            count(m_apart, elements, m_counts.all);
        if (!hn::AllTrue(d, hn::Eq(anySame, hn::Zero(d))))
            count(m_sameLowByte, elements, m_counts.sameLowByte);
    }

private:
    using Bins = std::array<std::uint64_t, StepCounts::Bins>;

    /// 0 where a side is NaN.
    static HWY_INLINE V distance(V x, V y)
    {
        const Words d;
        if constexpr (Format::IsInteger) {
            const V sign = hn::Set(d, Format::signBit());
            return between(hn::Xor(x, sign), hn::Xor(y, sign));
        } else {
            using Of = Patterns<Format, Words>;
            return hn::IfThenZeroElse(hn::Or(Of::isNan(x), Of::isNan(y)), between(Of::ordered(x), Of::ordered(y)));
        }
    }
    static HWY_INLINE V between(V x, V y) { return hn::Sub(hn::Max(x, y), hn::Min(x, y)); }

    static HWY_INLINE void count(const Word* distances, std::size_t elements, Bins& bins)
    {
        std::uint64_t above = countAbove(distances, elements, 0);
        for (std::size_t bin = 0; above > 0; ++bin) {
            const std::uint64_t further =
                bin < Format::Width ? countAbove(distances, elements, static_cast<Word>(Word { 1 } << bin)) : 0;
            bins[bin] += above - further;
            above = further;
        }
    }

    static HWY_INLINE std::uint64_t countAbove(const Word* distances, std::size_t elements, Word limit)
    {
        const Words d;
        std::uint64_t above = 0;
        for (std::size_t i = 0; i < elements; i += hn::Lanes(d))
            above += hn::CountTrue(d, hn::Gt(hn::Load(d, distances + i), hn::Set(d, limit)));
        return above;
    }

    StepCounts& m_counts;
    HWY_ALIGN Word m_apart[ChunkElements];
    HWY_ALIGN Word m_sameLowByte[HasLowByte ? ChunkElements : 1];
};

template <class Format> void countStepsAs(const Format&, ByteSpan before, ByteSpan after, StepCounts& counts)
{
    using Meter = StepMeter<Format>;
    constexpr std::size_t ElementBytes = sizeof(typename Format::Bits);
    const auto* const a = reinterpret_cast<const std::uint8_t*>(before.data());
    const auto* const b = reinterpret_cast<const std::uint8_t*>(after.data());
    const std::size_t whole = before.size() / ElementBytes / GroupElements * GroupElements;
    Meter meter(counts);
    for (std::size_t i = 0; i < whole; i += Meter::ChunkElements)
        meter.add(a + i * ElementBytes, b + i * ElementBytes, std::min(Meter::ChunkElements, whole - i));
    if (const std::size_t rest = before.size() - whole * ElementBytes; rest > 0) { // equal zeros behind it add nothing
        std::uint8_t left[GroupElements * ElementBytes] = {};
        std::uint8_t right[GroupElements * ElementBytes] = {};
        std::memcpy(left, a + whole * ElementBytes, rest);
        std::memcpy(right, b + whole * ElementBytes, rest);
        meter.add(left, right, GroupElements);
    }
}

void countStepsOf(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) noexcept
{
    const auto count = [&](auto format) { countStepsAs(format, before, after, counts); };
    withNumbers(dtype, count, count);
}

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace deltascope {

CountSteps simdSteps([[maybe_unused]] std::int64_t target) noexcept
{
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX2
    if (target == HWY_AVX2)
        return N_AVX2::countStepsOf;
#endif
#if HWY_TARGETS & HWY_AVX3
    if (target == HWY_AVX3)
        return N_AVX3::countStepsOf;
#endif
#elif HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128
    if (target == HWY_STATIC_TARGET)
        return HWY_STATIC_DISPATCH(countStepsOf);
#endif
    return scalarSteps;
}

} // namespace deltascope

#endif // HWY_ONCE
