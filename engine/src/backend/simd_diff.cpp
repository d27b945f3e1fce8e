// The vector backends. This file is compiled once per target by foreach_target.h, each time with the instructions of
// that target for the code between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE only; no compiler flag is needed or
// allowed.
#include "backend/moments.h"
#include "backend/scalar_apply.h"
#include "backend/scalar_diff.h"
#include "backend/simd_targets.h"
#include "backend/steps.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/simd_diff.cpp"
#include <hwy/foreach_target.h> // before highway.h
#include <hwy/highway.h>

#include "backend/simd_apply-inl.h" // behind highway.h
#include "backend/simd_groups-inl.h"

#ifndef DELTASCOPE_DIFF_KERNELS
#define DELTASCOPE_DIFF_KERNELS

namespace deltascope {
namespace {

/// What one target does for one element width; the contract is that of Backend, lengths are in elements.
template <class Word> struct DiffKernels {
    std::uint64_t (*count)(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements);
    std::size_t (*extract)(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements,
                           std::uint32_t* positions, std::uint8_t* values);
    std::uint64_t (*xorInto)(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements,
                             std::uint8_t* out);
    // What FullBlock and XorBlock do to a block of a multiple of WholeElements.
    PatchCounts (*replace)(std::uint8_t* block, const std::uint8_t* fresh, std::size_t elements, Word minusZero);
    std::uint64_t (*mask)(std::uint8_t* block, const std::uint8_t* mask, std::size_t elements);
};

constexpr std::size_t WholeElements = 64; ///< whole vectors of every target and width

/// All widths of one target.
struct DiffTarget {
    DiffKernels<std::uint8_t> bytes1;
    DiffKernels<std::uint16_t> bytes2;
    DiffKernels<std::uint32_t> bytes4;
    DiffKernels<std::uint64_t> bytes8;
};

} // namespace
} // namespace deltascope

#endif // DELTASCOPE_DIFF_KERNELS

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 // the baseline of x86, for which we have our own scalar code

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Word>
std::size_t extractWords(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements,
                         std::uint32_t* positions, std::uint8_t* values)
{
    // Positions first, then the values that they name, in chunks small enough for these to be in the first-level cache
    // still.
    constexpr std::size_t ChunkElements = 8192 / sizeof(Word);
    std::uint32_t* found = positions;
    for (std::size_t chunk = 0; chunk < elements; chunk += ChunkElements) {
        const std::uint32_t* fresh = found;
        const std::size_t end = std::min(elements, chunk + ChunkElements);
        std::size_t i = chunk;
        for (; i + GroupElements <= end; i += GroupElements) {
            const std::uint64_t bits = differingBits<Word>(before + i * sizeof(Word), after + i * sizeof(Word));
            found = appendPositions(bits, static_cast<std::uint32_t>(i), found);
        }
        if (i < end) {
            const std::size_t at = i * sizeof(Word);
            const std::uint64_t bits = differingBitsOfSome<Word>(before + at, after + at, end - i);
            found = appendPositions(bits, static_cast<std::uint32_t>(i), found);
        }
        for (; fresh != found; ++fresh, values += sizeof(Word)) {
            const Word word = loadWord<Word>(after + std::size_t { *fresh } * sizeof(Word));
            std::memcpy(values, &word, sizeof word);
        }
    }
    return static_cast<std::size_t>(found - positions);
}

template <class Word>
std::uint64_t countWords(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements)
{
    constexpr std::size_t GroupBytes = GroupElements * sizeof(Word);
    std::uint64_t count = 0;
    for (; elements >= GroupElements; elements -= GroupElements, before += GroupBytes, after += GroupBytes)
        count += countBits(differingBits<Word>(before, after));
    return count + countBits(differingBitsOfSome<Word>(before, after, elements));
}

template <class Word>
std::uint64_t xorWords(const std::uint8_t* before, const std::uint8_t* after, std::size_t elements, std::uint8_t* out)
{
    const Tag<Word> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t vectorBytes = lanes * sizeof(Word);
    std::uint64_t count = 0;
    for (; elements >= lanes; elements -= lanes, before += vectorBytes, after += vectorBytes, out += vectorBytes) {
        const auto bits = hn::Xor(loadVector<Word>(before), loadVector<Word>(after));
        hn::StoreU(hn::BitCast(ByteTag<Word>(), bits), ByteTag<Word>(), out);
        count += hn::CountTrue(d, hn::Ne(bits, hn::Zero(d)));
    }
    for (; elements > 0; --elements, before += sizeof(Word), after += sizeof(Word), out += sizeof(Word)) {
        const Word bits = static_cast<Word>(loadWord<Word>(before) ^ loadWord<Word>(after));
        std::memcpy(out, &bits, sizeof bits);
        count += bits != 0;
    }
    return count;
}

template <class Word>
constexpr DiffKernels<Word> Kernels = { countWords<Word>, extractWords<Word>, xorWords<Word>, replaceWords<Word>,
                                        maskWords<Word> };
static_assert(WholeElements % GroupElements == 0);

const DiffTarget Target = { Kernels<std::uint8_t>, Kernels<std::uint16_t>, Kernels<std::uint32_t>,
                            Kernels<std::uint64_t> };

} // namespace HWY_NAMESPACE
} // namespace
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace deltascope {

namespace {

class SimdDiff final : public Backend {
private:
    static const std::uint8_t* bytesOf(ByteSpan span) noexcept
    {
        return reinterpret_cast<const std::uint8_t*>(span.data());
    }

    static std::uint8_t* bytesOf(MutableByteSpan span) noexcept { return reinterpret_cast<std::uint8_t*>(span.data()); }

    template <class Call> auto forWidth(unsigned elementBytes, const Call& call) const noexcept
    {
        switch (elementBytes) {
        case 1:
            return call(m_kernels.bytes1);
        case 2:
            return call(m_kernels.bytes2);
        case 4:
            return call(m_kernels.bytes4);
        default:
            assert(elementBytes == 8);
            return call(m_kernels.bytes8);
        }
    }

public:
    SimdDiff(std::string_view name, std::int64_t target, const DiffTarget& kernels)
        : m_name(name)
        , m_target(target)
        , m_kernels(kernels)
        , m_moments(simdMoments(target))
        , m_steps(simdSteps(target))
    {
    }

    std::string_view name() const noexcept override { return m_name; }
    bool isSupportedHere() const noexcept override { return (hwy::SupportedTargets() & m_target) != 0; }

    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0);
        return forWidth(elementBytes, [&](const auto& kernels) {
            return kernels.count(bytesOf(before), bytesOf(after), before.size() / elementBytes);
        });
    }

    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0);
        return forWidth(elementBytes, [&](const auto& kernels) {
            return kernels.extract(bytesOf(before), bytesOf(after), before.size() / elementBytes, positions,
                                   reinterpret_cast<std::uint8_t*>(values));
        });
    }

    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0 && out.size() == before.size());
        return forWidth(elementBytes, [&](const auto& kernels) {
            return kernels.xorInto(bytesOf(before), bytesOf(after), before.size() / elementBytes,
                                   reinterpret_cast<std::uint8_t*>(out.data()));
        });
    }

    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        return m_moments(before, after, dtype);
    }

    void countSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) const noexcept override
    {
        assert(before.size() == after.size() && before.size() * 8 % bitsOf(dtype) == 0);
        m_steps(before, after, dtype, counts);
    }

    /// Vectors pay where a piece is as long as its block. Single elements are read and written one by one in any case,
    /// and elements of 4 or 6 bits and AddElements are rare: those are left to the scalar code.
    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        const unsigned bits = bitsOf(dtype);
        if (bits % 8 != 0)
            return scalarApply(piece, block, dtype);
        const std::size_t whole = block.size() - block.size() % (WholeElements * bits / 8);
        const MutableByteSpan rest = block.subspan(whole);
        PatchCounts counts;
        if (const auto* full = std::get_if<FullBlock>(&piece)) {
            assert(full->bytes.size() == block.size());
            forWidth(bits / 8, [&]<class Word>(const DiffKernels<Word>& kernels) {
                counts = kernels.replace(bytesOf(block), bytesOf(full->bytes), whole / sizeof(Word),
                                         static_cast<Word>(zeroSign(dtype)));
            });
            return counts += scalarApply(FullBlock { full->bytes.subspan(whole) }, rest, dtype);
        }
        if (const auto* mask = std::get_if<XorBlock>(&piece)) {
            assert(mask->bytes.size() == block.size());
            forWidth(bits / 8, [&]<class Word>(const DiffKernels<Word>& kernels) {
                counts.changed = kernels.mask(bytesOf(block), bytesOf(mask->bytes), whole / sizeof(Word));
            });
            return counts += scalarApply(XorBlock { mask->bytes.subspan(whole) }, rest, dtype);
        }
        return scalarApply(piece, block, dtype);
    }

private:
    std::string_view m_name;
    std::int64_t m_target;
    const DiffTarget& m_kernels;
    MeasureMoments m_moments;
    CountSteps m_steps;
};

} // namespace

// Not HWY_EXPORT and HWY_DYNAMIC_DISPATCH: these call the best target only, but here each must be selectable by name,
// so the tables are taken from the targets' namespaces.
std::vector<std::shared_ptr<const Backend>> makeSimdDiffs()
{
    std::vector<std::shared_ptr<const Backend>> all;
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX2
    all.push_back(std::make_shared<SimdDiff>("avx2", HWY_AVX2, N_AVX2::Target));
#endif
#if HWY_TARGETS & HWY_AVX3
    all.push_back(std::make_shared<SimdDiff>("avx512", HWY_AVX3, N_AVX3::Target));
#endif
#elif HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128
    all.push_back(std::make_shared<SimdDiff>("simd", HWY_STATIC_TARGET, HWY_STATIC_DISPATCH(Target)));
#endif
    return all;
}

} // namespace deltascope

#endif // HWY_ONCE
