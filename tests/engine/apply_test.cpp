#include "deltascope/engine/patch.h"

#include "support/backends.h"

#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace deltascope {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytesOf(std::initializer_list<unsigned> values)
{
    Bytes out;
    for (const unsigned value : values)
        out.push_back(static_cast<std::byte>(value));
    return out;
}

Bytes randomBytes(std::size_t count, std::uint32_t seed)
{
    std::mt19937 random(seed);
    Bytes out(count);
    for (std::byte& byte : out)
        byte = static_cast<std::byte>(random());
    return out;
}

PatchCounts countsOf(std::uint64_t assigned, std::uint64_t noops, std::uint64_t changed)
{
    PatchCounts counts;
    counts.assigned = assigned;
    counts.noops = noops;
    counts.changed = changed;
    return counts;
}

/// The plain meaning: elements that have a differing bit.
std::uint64_t slowDifferent(const Bytes& a, const Bytes& b, unsigned bits)
{
    std::uint64_t count = 0;
    for (std::size_t element = 0; element < a.size() * 8 / bits; ++element) {
        bool differs = false;
        for (std::size_t bit = element * bits; bit < (element + 1) * bits; ++bit)
            differs |= (((a[bit / 8] ^ b[bit / 8]) >> (bit % 8)) & std::byte { 1 }) != std::byte { 0 };
        count += differs;
    }
    return count;
}

constexpr std::array<Dtype, 6> OneOfEachWidth = { Dtype::F4,   Dtype::F6E2M3, Dtype::U8,
                                                  Dtype::BF16, Dtype::F32,    Dtype::F64 };

TEST(ApplyPiece, NothingChangesNothing)
{
    Bytes block = bytesOf({ 1, 2 });
    EXPECT_EQ(test::applyPiece(PatchPiece(), block, Dtype::BF16), countsOf(0, 0, 0));
    EXPECT_EQ(block, bytesOf({ 1, 2 }));
}

TEST(ApplyPiece, FullBlockReplacesAndCountsDifferentElements)
{
    Bytes block = bytesOf({ 1, 2, 3, 4, 5, 6 });
    const Bytes fresh = bytesOf({ 1, 2, 9, 9, 5, 7 });
    PatchCounts expected = countsOf(0, 0, 2);
    expected.sameLowByte = 1; // 5, 6 became 5, 7
    EXPECT_EQ(test::applyPiece(FullBlock { fresh }, block, Dtype::BF16), expected);
    EXPECT_EQ(block, fresh);
}

TEST(ApplyPiece, FullBlockCountsZerosOfAnotherSignApart)
{
    struct Case {
        Dtype dtype;
        std::uint64_t minusZero; ///< 0 for types with one zero
    };
    const std::vector<Case> cases = {
        { Dtype::BF16, 0x8000 },     { Dtype::F16, 0x8000 },
        { Dtype::F32, 0x8000'0000 }, { Dtype::F64, 0x8000'0000'0000'0000 },
        { Dtype::F8E5M2, 0x80 },     { Dtype::F8E4M3, 0x80 },
        { Dtype::F8E4M3Fnuz, 0 },    { Dtype::F8E8M0, 0 },
        { Dtype::I16, 0 },           { Dtype::I8, 0 },
    };
    for (const auto& [dtype, minusZero] : cases) {
        const std::size_t width = bitsOf(dtype) / 8;
        const std::uint64_t top = std::uint64_t { 1 } << (8 * width - 1);
        const auto elements = [&](std::initializer_list<std::uint64_t> values) {
            Bytes out;
            for (const std::uint64_t value : values) {
                for (std::size_t byte = 0; byte < width; ++byte)
                    out.push_back(static_cast<std::byte>(value >> (8 * byte)));
            }
            return out;
        };
        Bytes block = elements({ 0, top, 0, top, 1, top | 1 });
        const Bytes fresh = elements({ top, 0, 0, 1, top | 1, top | 1 });
        PatchCounts expected = countsOf(0, 0, 4);
        expected.zeroSigns = minusZero == 0 ? 0 : 2;
        expected.sameLowByte = width == 2 ? 3 : 0;
        EXPECT_EQ(test::applyPiece(FullBlock { fresh }, block, dtype), expected) << word(dtype);
        EXPECT_EQ(block, fresh) << word(dtype);
    }
}

TEST(ApplyPiece, AssignElementsCountsNoops)
{
    for (const Dtype dtype : { Dtype::U8, Dtype::BF16, Dtype::F32, Dtype::F64 }) {
        const std::size_t width = bitsOf(dtype) / 8;
        Bytes block = randomBytes(16 * width, 1);
        const Bytes before = block;
        const std::vector<std::uint32_t> elements = { 0, 7, 15 };
        Bytes bits(3 * width);
        for (std::size_t i = 0; i < 3; ++i)
            std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(elements[i] * width), width,
                        bits.begin() + static_cast<std::ptrdiff_t>(i * width));
        bits[2 * width - 1] ^= std::byte { 0x80 }; // the highest byte of element 7
        PatchCounts counts = countsOf(3, 2, 1);
        counts.sameLowByte = width == 2 ? 1 : 0;
        EXPECT_EQ(test::applyPiece(AssignElements { elements, bits }, block, dtype), counts);
        Bytes expected = before;
        expected[8 * width - 1] ^= std::byte { 0x80 };
        EXPECT_EQ(block, expected);
    }
}

TEST(ApplyPiece, AssigningTwiceIsANoopTheSecondTime)
{
    Bytes block(8 * 2);
    const std::vector<std::uint32_t> elements = { 1, 4, 7 };
    const Bytes bits = bytesOf({ 1, 0xc0, 0x81, 0x3e, 0xc9, 0x42 });
    EXPECT_EQ(test::applyPiece(AssignElements { elements, bits }, block, Dtype::BF16), countsOf(3, 0, 3));
    EXPECT_EQ(test::applyPiece(AssignElements { elements, bits }, block, Dtype::BF16), countsOf(3, 3, 0));
}

TEST(ApplyPiece, NoopsOfNanAreCountedApart)
{
    struct Case {
        Dtype dtype;
        Bytes nan; ///< a NaN
        Bytes other; ///< the largest value that is none, or its neighbour
    };
    const std::vector<Case> cases = {
        { Dtype::BF16, bytesOf({ 0x81, 0xff }), bytesOf({ 0x80, 0xff }) },
        { Dtype::F16, bytesOf({ 0x01, 0x7c }), bytesOf({ 0x00, 0x7c }) },
        { Dtype::F32, bytesOf({ 0, 0, 0xc0, 0x7f }), bytesOf({ 0, 0, 0x80, 0x7f }) },
        { Dtype::F64, bytesOf({ 1, 0, 0, 0, 0, 0, 0xf0, 0xff }), bytesOf({ 0, 0, 0, 0, 0, 0, 0xf0, 0xff }) },
        { Dtype::F8E5M2, bytesOf({ 0xfd }), bytesOf({ 0xfc }) },
        { Dtype::F8E4M3, bytesOf({ 0x7f }), bytesOf({ 0x7e }) },
        { Dtype::F8E8M0, bytesOf({ 0xff }), bytesOf({ 0xfe }) },
        { Dtype::F8E4M3Fnuz, bytesOf({ 0x80 }), bytesOf({ 0xff }) },
        { Dtype::F8E5M2Fnuz, bytesOf({ 0x80 }), bytesOf({ 0x7f }) },
    };
    const std::vector<std::uint32_t> elements = { 0 };
    for (const Case& one : cases) {
        Bytes block = one.nan;
        EXPECT_EQ(test::applyPiece(AssignElements { elements, one.nan }, block, one.dtype).nanNoops, 1U)
            << word(one.dtype);
        EXPECT_EQ(test::applyPiece(AssignElements { elements, one.other }, block, one.dtype).nanNoops, 0U)
            << word(one.dtype);
        EXPECT_EQ(test::applyPiece(AssignElements { elements, one.other }, block, one.dtype), countsOf(1, 1, 0))
            << word(one.dtype);
        EXPECT_EQ(test::applyPiece(AssignElements { elements, one.nan }, block, one.dtype), countsOf(1, 0, 1))
            << word(one.dtype);
    }
    Bytes integer = bytesOf({ 0xff, 0xff });
    const Bytes same = integer;
    EXPECT_EQ(test::applyPiece(AssignElements { elements, same }, integer, Dtype::U16), countsOf(1, 1, 0));
}

TEST(ApplyPiece, AssignElementsOfSixBitsTouchesNothingElse)
{
    Bytes block = bytesOf({ 0xff, 0xff, 0xff }); // four elements
    const std::vector<std::uint32_t> elements = { 1, 2 };
    const Bytes bits = bytesOf({ 0x00, 0x0f }); // 000000, then 111100 from the low bit up
    EXPECT_EQ(test::applyPiece(AssignElements { elements, bits }, block, Dtype::F6E2M3), countsOf(2, 0, 2));
    EXPECT_EQ(block, bytesOf({ 0x3f, 0xc0, 0xff }));
}

TEST(ApplyPiece, AssignBytesCountsDistinctChangedElements)
{
    Bytes block = bytesOf({ 0, 0, 0, 0, 0, 0, 0, 0 });
    const std::vector<std::uint32_t> positions = { 0, 1, 2, 3, 7 };
    const Bytes values = bytesOf({ 5, 6, 0, 7, 0 });
    EXPECT_EQ(test::applyPiece(AssignBytes { positions, values }, block, Dtype::BF16), countsOf(5, 2, 2));
    EXPECT_EQ(block, bytesOf({ 5, 6, 0, 7, 0, 0, 0, 0 }));
    Bytes again(8);
    EXPECT_EQ(test::applyPiece(AssignBytes { positions, values }, again, Dtype::U8).changed, 3U);
    Bytes wide(8);
    EXPECT_EQ(test::applyPiece(AssignBytes { positions, values }, wide, Dtype::F64).changed, 1U);
    Bytes nibbles(8);
    EXPECT_EQ(test::applyPiece(AssignBytes { positions, values }, nibbles, Dtype::F4).changed, 3U);
}

TEST(ApplyPiece, AssignBytesCountsEachSixBitElementOnce)
{
    Bytes block(3);
    const std::vector<std::uint32_t> positions = { 0, 1 };
    const Bytes values = bytesOf({ 0xc0, 0x01 }); // bits 6, 7 and 8: all of element 1
    EXPECT_EQ(test::applyPiece(AssignBytes { positions, values }, block, Dtype::F6E3M2), countsOf(2, 0, 1));
}

TEST(ApplyPiece, XorCountsMasksAndAssignsNothing)
{
    Bytes block = bytesOf({ 1, 2, 3, 4 });
    const std::vector<std::uint32_t> elements = { 0, 1 };
    const Bytes masks = bytesOf({ 0, 0, 1, 0 });
    EXPECT_EQ(test::applyPiece(XorElements { elements, masks }, block, Dtype::BF16), countsOf(0, 0, 1));
    EXPECT_EQ(block, bytesOf({ 1, 2, 2, 4 }));
}

TEST(ApplyPiece, XorBlockAgreesWithTheDifferenceForEveryWidthAndLength)
{
    const Backends backends = Backends::builtin();
    for (const Dtype dtype : OneOfEachWidth) {
        // 24 bytes hold whole elements of every width; the lengths cross the step of the dense loops
        for (const std::size_t count : { 0U, 24U, 120U, 2040U, 2064U, 8208U, 16392U }) {
            const Bytes before = randomBytes(count, 7);
            Bytes mask = randomBytes(count, 8);
            for (std::size_t i = 0; i < count; ++i)
                mask[i] = i % 5 == 0 ? mask[i] : std::byte { 0 };
            Bytes block = before;
            const PatchCounts counts = test::applyPiece(XorBlock { mask }, block, dtype);
            EXPECT_EQ(counts.assigned, 0U);
            EXPECT_EQ(counts.noops, 0U);
            EXPECT_EQ(counts.changed, slowDifferent(before, block, bitsOf(dtype))) << word(dtype) << ' ' << count;
            for (const auto& backend : backends.all()) {
                if (backend->isSupportedHere()) {
                    EXPECT_EQ(countDifferent(*backend, before, block, dtype), counts.changed)
                        << backend->name() << ' ' << word(dtype) << ' ' << count;
                }
            }
            test::applyPiece(XorBlock { mask }, block, dtype);
            EXPECT_EQ(block, before);
        }
    }
}

TEST(ApplyPiece, XorBlockCountsDenseChangesWithoutWrapping)
{
    for (const Dtype dtype : OneOfEachWidth) {
        const Bytes before(96 * 1024);
        const Bytes mask(before.size(), std::byte { 0xff });
        Bytes block = before;
        EXPECT_EQ(test::applyPiece(XorBlock { mask }, block, dtype).changed, before.size() * 8 / bitsOf(dtype));
        EXPECT_EQ(countDifferent(*test::fastestBackend(), before, block, dtype), before.size() * 8 / bitsOf(dtype));
    }
}

TEST(BlockBytes, HoldWholeElementsAndWholeBytes)
{
    for (const Dtype dtype : OneOfEachWidth)
        EXPECT_EQ(blockBytesOf(dtype) * 8 % bitsOf(dtype), 0U);
    EXPECT_EQ(blockBytesOf(Dtype::BF16), 131072U);
    EXPECT_EQ(blockBytesOf(Dtype::F6E2M3), 98304U);
}

} // namespace
} // namespace deltascope
