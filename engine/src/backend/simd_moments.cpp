// Moments with vectors. As simd_diff.cpp, this file is compiled once per target by foreach_target.h, but with
// -ffp-contract=off: a square that is not rounded before it is added gives other bits than the reference.
#include "backend/moments.h"
#include "backend/simd_targets.h"

#include <cassert>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/simd_moments.cpp"
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

/// A row holds one element for each sum; a stripe is looked through for what is rare before its squares are added.
constexpr std::size_t RowElements = Backend::MomentLanes;
constexpr std::size_t StripeRows = 8;
constexpr std::size_t StripeElements = StripeRows * RowElements;
constexpr std::size_t StripeGroups = StripeElements / GroupElements;
constexpr std::size_t ChunkElements = 4096; ///< whose differences are listed, and stay in the first-level cache
constexpr std::size_t BatchElements = 8 * RowElements; ///< of these, measured side by side

using Doubles = hn::CappedTag<double, RowElements>;
template <class Word> using RowTag = hn::CappedTag<Word, RowElements>;

/// Values of a floating type of at most 16 bits: the pattern, moved into place in that of an F32, which holds each of
/// them exactly.
template <class Format, bool Signed, bool MayBeSpecial, class D32>
HWY_INLINE hn::VFromD<hn::RebindToFloat<D32>> narrowValues(D32 d32, hn::VFromD<D32> bits)
{
    const hn::RebindToFloat<D32> df;
    if constexpr (Format::Width == 16 && Format::Bias == 127) {
        return hn::BitCast(df, hn::ShiftLeft<16>(bits));
    } else {
        constexpr unsigned Fraction = 23;
        constexpr std::uint32_t One = 1U << Fraction;
        constexpr std::uint32_t Rebias = (127U - static_cast<unsigned>(Format::Bias)) * One;
        const auto moved = hn::ShiftLeft<Fraction - Format::Mantissa>(
            hn::And(bits, hn::Set(d32, std::uint32_t { Format::signBit() } - 1)));
        const auto normal = hn::Add(moved, hn::Set(d32, Rebias));
        // Below the least exponent there is no leading one: it is added with the exponent, and taken off again.
        const auto least = hn::Set(d32, Rebias + One);
        const auto denormal = hn::BitCast(d32, hn::Sub(hn::BitCast(df, hn::Add(moved, least)), hn::BitCast(df, least)));
        auto out = hn::IfThenElse(hn::Lt(moved, hn::Set(d32, One)), denormal, normal);
        if constexpr (MayBeSpecial)
            out = hn::IfThenElse(Patterns<Format, D32>::isSpecial(bits), hn::Set(d32, 0x7f80'0000U), out);
        if constexpr (Signed)
            out = hn::Or(
                out,
                hn::ShiftLeft<32 - Format::Width>(hn::And(bits, hn::Set(d32, std::uint32_t { Format::signBit() }))));
        return hn::BitCast(df, out);
    }
}

/// Values of as many elements as fit; where they MayBeSpecial, NaN is NaN or an infinity. Not Signed: squares alone
/// are wanted.
template <class Format, bool Signed, bool MayBeSpecial> HWY_INLINE hn::VFromD<Doubles> valuesAt(const std::uint8_t* at)
{
    const Doubles d;
    if constexpr (Format::IsInteger) {
        const hn::Rebind<std::int32_t, Doubles> d32;
        const hn::Rebind<typename Format::Value, Doubles> dn;
        if constexpr (Format::Width == 32)
            return hn::PromoteTo(d, loadElements(d32, at));
        else
            return hn::PromoteTo(d, hn::PromoteTo(d32, loadElements(dn, at)));
    } else if constexpr (Format::Width == 64) {
        return loadElements(d, at);
    } else if constexpr (Format::Width == 32) {
        return hn::PromoteTo(d, loadElements(hn::Rebind<float, Doubles>(), at));
    } else {
        const hn::Rebind<std::uint32_t, Doubles> d32;
        const hn::Rebind<typename Format::Bits, Doubles> dn;
        const auto bits = hn::PromoteTo(d32, loadElements(dn, at));
        return hn::PromoteTo(d, narrowValues<Format, Signed, MayBeSpecial>(d32, bits));
    }
}

HWY_INLINE hn::MFromD<Doubles> isFinite(hn::VFromD<Doubles> v)
{
    return hn::Lt(hn::Abs(v), hn::Set(Doubles(), std::numeric_limits<double>::infinity()));
}
HWY_INLINE hn::VFromD<Doubles> finiteOrZero(hn::VFromD<Doubles> v) { return hn::IfThenElseZero(isFinite(v), v); }

template <class Format> class ChunkMeter {
    using Bits = typename Format::Bits;
    using Words = RowTag<Bits>;
    using Of = Patterns<Format, Words>;

public:
    explicit ChunkMeter(MomentSums& sums)
        : m_sums(sums)
    {
    }

    /// `elements`: whole stripes, at most a chunk.
    void add(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements)
    {
        if (HWY_UNLIKELY(differentIn(before, after) > StripeElements / 6)) { // then there is less to do without a list
            for (std::size_t i = 0; i < elements; i += StripeElements)
                addDense(before + i * sizeof(Bits), after + i * sizeof(Bits));
            return;
        }
        std::uint32_t* found = m_positions;
        for (std::size_t i = 0; i < elements; i += StripeElements) {
            std::uint64_t bits[StripeGroups];
            std::uint64_t any = 0;
            for (std::size_t group = 0; group < StripeGroups; ++group) {
                const std::size_t at = (i + group * GroupElements) * sizeof(Bits);
                bits[group] = differingBits<Bits>(before + at, after + at);
                any |= bits[group];
            }
            // One look for all groups: each look at few changes is hard to predict.
            for (std::size_t group = 0; any != 0 && group < StripeGroups; ++group)
                found = appendPositions(bits[group], static_cast<std::uint32_t>(i + group * GroupElements), found);
            addStripe(before + i * sizeof(Bits));
        }
        const auto different = static_cast<std::size_t>(found - m_positions);
        m_sums.out.different += different;
        addListed(before, after, different);
    }

    void finish()
    {
        for (std::size_t i = 0; i < RowElements; ++i) {
            m_sums.out.maxAbs = std::max(m_sums.out.maxAbs, m_maxAbs[i]);
            m_sums.out.maxUlp = std::max<std::uint64_t>(m_sums.out.maxUlp, m_maxUlp[i]);
        }
    }

private:
    /// How many elements of a stripe differ.
    static HWY_INLINE std::size_t differentIn(const std::uint8_t* before, const std::uint8_t* after)
    {
        std::size_t different = 0;
        for (std::size_t i = 0; i < StripeElements * sizeof(Bits); i += GroupElements * sizeof(Bits))
            different += static_cast<std::size_t>(hwy::PopCount(differingBits<Bits>(before + i, after + i)));
        return different;
    }

    /// Adds the squares of a stripe of `before`.
    HWY_INLINE void addStripe(const std::uint8_t* before)
    {
        if constexpr (!Format::IsInteger) {
            const Words d;
            auto special = hn::Ne(hn::Zero(d), hn::Zero(d));
            for (std::size_t i = 0; i < StripeElements; i += hn::Lanes(d))
                special = hn::Or(special, Of::isSpecial(loadElements(d, before + i * sizeof(Bits))));
            if (HWY_UNLIKELY(!hn::AllFalse(d, special))) {
                addSquares<true>(before);
                for (std::size_t i = 0; i < StripeElements; i += hn::Lanes(d))
                    m_sums.out.notFinite += hn::CountTrue(d, Of::isSpecial(loadElements(d, before + i * sizeof(Bits))));
                return;
            }
        }
        addSquares<false>(before);
    }

    static HWY_INLINE hn::VFromD<Doubles> withSquare(hn::VFromD<Doubles> value, hn::VFromD<Doubles> sum)
    {
        if constexpr (Format::Width <= 32 && !Format::IsInteger)
            return hn::MulAdd(value, value, sum); // such a square is exact, so nothing is rounded but the sum
        else
            return hn::Add(sum, hn::Mul(value, value));
    }

    /// How far values are apart; 0 where one of them is not finite.
    template <bool MayBeSpecial>
    static HWY_INLINE hn::VFromD<Doubles> distance(hn::VFromD<Doubles> a, hn::VFromD<Doubles> b)
    {
        const auto gap = hn::Abs(hn::Sub(a, b));
        if constexpr (MayBeSpecial)
            return hn::IfThenElseZero(hn::And(isFinite(a), isFinite(b)), gap);
        else
            return gap;
    }

    static HWY_INLINE bool anySpecial(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements)
    {
        const Words d;
        auto special = hn::Ne(hn::Zero(d), hn::Zero(d));
        for (std::size_t i = 0; i < elements; i += hn::Lanes(d)) {
            special = hn::Or(special, Of::isSpecial(loadElements(d, before + i * sizeof(Bits))));
            special = hn::Or(special, Of::isSpecial(loadElements(d, after + i * sizeof(Bits))));
        }
        return !hn::AllFalse(d, special);
    }

    template <bool MayBeSpecial> HWY_INLINE void addSquares(const std::uint8_t* before)
    {
        const Doubles d;
        for (std::size_t lane = 0; lane < RowElements; lane += hn::Lanes(d)) {
            auto sum = hn::LoadU(d, &m_sums.squares[lane]);
            for (std::size_t row = 0; row < StripeRows; ++row) {
                auto value = valuesAt<Format, false, MayBeSpecial>(before + (row * RowElements + lane) * sizeof(Bits));
                if constexpr (MayBeSpecial)
                    value = finiteOrZero(value);
                sum = withSquare(value, sum);
            }
            hn::StoreU(sum, d, &m_sums.squares[lane]);
        }
    }

    /// Adds the squares of a stripe of `before`, and measures every element: equal ones add nothing.
    void addDense(const std::uint8_t* before, const std::uint8_t* after)
    {
        m_sums.out.different += differentIn(before, after);
        if constexpr (!Format::IsInteger) {
            if (HWY_UNLIKELY(anySpecial(before, after, StripeElements))) {
                addStripe(before);
                addRows(before, after);
                return;
            }
        }
        addPatterns<false, StripeElements>(before, after);
        const Doubles d;
        for (std::size_t lane = 0; lane < RowElements; lane += hn::Lanes(d)) {
            auto squares = hn::LoadU(d, &m_sums.squares[lane]);
            auto moved = hn::LoadU(d, &m_sums.moved[lane]);
            auto most = hn::LoadU(d, m_maxAbs + lane);
            for (std::size_t row = 0; row < StripeRows; ++row) {
                const std::size_t at = (row * RowElements + lane) * sizeof(Bits);
                const auto a = valuesAt<Format, true, false>(before + at);
                const auto gap = distance<false>(a, valuesAt<Format, true, false>(after + at));
                squares = withSquare(a, squares);
                moved = hn::Add(moved, hn::Mul(gap, gap));
                most = hn::Max(most, gap);
            }
            hn::StoreU(squares, d, &m_sums.squares[lane]);
            hn::StoreU(moved, d, &m_sums.moved[lane]);
            hn::StoreU(most, d, m_maxAbs + lane);
        }
    }

    void addRows(const std::uint8_t* before, const std::uint8_t* after)
    {
        const Doubles d;
        for (std::size_t i = 0; i < StripeElements; i += RowElements)
            addRow(before + i * sizeof(Bits), after + i * sizeof(Bits), [&](std::size_t lane, auto square) {
                hn::StoreU(hn::Add(hn::LoadU(d, &m_sums.moved[lane]), square), d, &m_sums.moved[lane]);
            });
    }

    /// Measures the elements of the list, which are brought together for that.
    void addListed(const std::uint8_t* before, const std::uint8_t* after, std::size_t different)
    {
        const Doubles d;
        HWY_ALIGN Bits left[BatchElements];
        HWY_ALIGN Bits right[BatchElements];
        HWY_ALIGN double squares[BatchElements];
        for (std::size_t first = 0; first < different; first += BatchElements) {
            const std::uint32_t* const positions = m_positions + first;
            const std::size_t count = std::min(BatchElements, different - first);
            for (std::size_t i = 0; i < count; ++i) {
                left[i] = loadWord<Bits>(before + positions[i] * sizeof(Bits));
                right[i] = loadWord<Bits>(after + positions[i] * sizeof(Bits));
            }
            for (std::size_t i = count; i % RowElements != 0; ++i)
                left[i] = right[i] = 0;
            for (std::size_t row = 0; row < count; row += RowElements)
                addRow(reinterpret_cast<const std::uint8_t*>(left + row),
                       reinterpret_cast<const std::uint8_t*>(right + row),
                       [&](std::size_t lane, auto square) { hn::StoreU(square, d, squares + row + lane); });
            for (std::size_t i = 0; i < count; ++i)
                m_sums.moved[positions[i] % RowElements] += squares[i];
        }
    }

    /// Measures a row; `take` gets the squares of its distances, some lanes at a time.
    template <class Take> HWY_INLINE void addRow(const std::uint8_t* before, const std::uint8_t* after, Take take)
    {
        if constexpr (!Format::IsInteger) {
            if (HWY_UNLIKELY(anySpecial(before, after, RowElements))) {
                addPatterns<true, RowElements>(before, after);
                addDistances<true>(before, after, take);
                return;
            }
        }
        addPatterns<false, RowElements>(before, after);
        addDistances<false>(before, after, take);
    }

    /// What elements show without their values.
    template <bool MayBeSpecial, std::size_t Elements>
    HWY_INLINE void addPatterns(const std::uint8_t* before, const std::uint8_t* after)
    {
        const Words d;
        auto most = hn::LoadU(d, m_maxUlp);
        for (std::size_t i = 0; i < Elements; i += hn::Lanes(d)) {
            const auto a = loadElements(d, before + i * sizeof(Bits));
            const auto b = loadElements(d, after + i * sizeof(Bits));
            auto flips = hn::Ne(hn::And(hn::Xor(a, b), hn::Set(d, Format::signBit())), hn::Zero(d));
            if constexpr (!Format::IsInteger) {
                const auto x = Of::ordered(a);
                const auto y = Of::ordered(b);
                auto apart = hn::Sub(hn::Max(x, y), hn::Min(x, y));
                if constexpr (MayBeSpecial) {
                    const auto nan = hn::Or(Of::isNan(a), Of::isNan(b));
                    const auto ofA = hn::And(hn::Ne(a, b), Of::isSpecial(a));
                    const auto ofB = hn::And(hn::Ne(a, b), Of::isSpecial(b));
                    m_sums.out.notFiniteChanged.a += hn::CountTrue(d, ofA);
                    m_sums.out.notFiniteChanged.b += hn::CountTrue(d, ofB);
                    m_sums.out.notFiniteChanged.different += hn::CountTrue(d, hn::Or(ofA, ofB));
                    m_sums.out.nanInvolved += hn::CountTrue(d, hn::And(hn::Ne(a, b), nan));
                    flips = hn::AndNot(nan, flips);
                    apart = hn::IfThenZeroElse(nan, apart);
                }
                most = hn::Max(most, apart);
            }
            m_sums.out.signFlips += hn::CountTrue(d, flips);
        }
        hn::StoreU(most, d, m_maxUlp);
    }

    template <bool MayBeSpecial, class Take>
    HWY_INLINE void addDistances(const std::uint8_t* before, const std::uint8_t* after, Take take)
    {
        const Doubles d;
        for (std::size_t lane = 0; lane < RowElements; lane += hn::Lanes(d)) {
            const auto a = valuesAt<Format, true, MayBeSpecial>(before + lane * sizeof(Bits));
            const auto b = valuesAt<Format, true, MayBeSpecial>(after + lane * sizeof(Bits));
            const auto gap = distance<MayBeSpecial>(a, b);
            hn::StoreU(hn::Max(hn::LoadU(d, m_maxAbs + lane), gap), d, m_maxAbs + lane);
            take(lane, hn::Mul(gap, gap));
        }
    }

    MomentSums& m_sums;
    HWY_ALIGN double m_maxAbs[RowElements] = {};
    HWY_ALIGN Bits m_maxUlp[RowElements] = {};
    std::uint32_t m_positions[ChunkElements + Backend::SlackElements]; ///< in the chunk, of elements that differ
};

template <class Format> DiffMoments measureAs(const Format&, ByteSpan before, ByteSpan after)
{
    constexpr std::size_t ElementBytes = sizeof(typename Format::Bits);
    const auto* const a = reinterpret_cast<const std::uint8_t*>(before.data());
    const auto* const b = reinterpret_cast<const std::uint8_t*>(after.data());
    const std::size_t whole = before.size() / ElementBytes / StripeElements * StripeElements;
    MomentSums sums;
    ChunkMeter<Format> meter(sums);
    for (std::size_t i = 0; i < whole; i += ChunkElements)
        meter.add(a + i * ElementBytes, b + i * ElementBytes, std::min(ChunkElements, whole - i));
    if (const std::size_t rest = before.size() - whole * ElementBytes; rest > 0) { // equal zeros behind it add nothing
        std::uint8_t left[StripeElements * ElementBytes] = {};
        std::uint8_t right[StripeElements * ElementBytes] = {};
        std::memcpy(left, a + whole * ElementBytes, rest);
        std::memcpy(right, b + whole * ElementBytes, rest);
        meter.add(left, right, StripeElements);
    }
    meter.finish();
    return sums.finish();
}

DiffMoments measure(ByteSpan before, ByteSpan after, Dtype dtype) noexcept
{
    assert(before.size() == after.size() && before.size() * 8 % bitsOf(dtype) == 0);
    assert(before.size() * 8 / bitsOf(dtype) <= Backend::MomentElements);
    DiffMoments out;
    withNumbers(
        dtype, [&](auto format) { out = measureAs(format, before, after); },
        [&](auto format) {
            using Format = decltype(format);
            // Others have values or distances that vectors do not convert.
            if constexpr (Format::Width < 32 || (Format::Width == 32 && Format::signBit() != 0))
                out = measureAs(format, before, after);
            else
                out = scalarMoments(before, after, dtype);
        });
    return out;
}

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace deltascope {

MeasureMoments simdMoments([[maybe_unused]] std::int64_t target) noexcept
{
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX2
    if (target == HWY_AVX2)
        return N_AVX2::measure;
#endif
#if HWY_TARGETS & HWY_AVX3
    if (target == HWY_AVX3)
        return N_AVX3::measure;
#endif
#elif HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128
    if (target == HWY_STATIC_TARGET)
        return HWY_STATIC_DISPATCH(measure);
#endif
    return scalarMoments;
}

} // namespace deltascope

#endif // HWY_ONCE
