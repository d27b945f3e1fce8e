#include "random_pieces.h"
#include "support/device.h"
#include "support/sanitizer.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Backend::apply(): every backend leaves the bytes and returns the counts of the scalar one; what these mean is the
// subject of apply_test.cpp.

namespace deltascope {
namespace {

constexpr Dtype All[] = { Dtype::Bool,       Dtype::F4,         Dtype::F6E2M3, Dtype::F6E3M2, Dtype::U8,  Dtype::I8,
                          Dtype::F8E5M2,     Dtype::F8E4M3,     Dtype::F8E8M0, Dtype::I16,    Dtype::U16, Dtype::F16,
                          Dtype::F8E4M3Fnuz, Dtype::F8E5M2Fnuz, Dtype::BF16,   Dtype::I32,    Dtype::U32, Dtype::F32,
                          Dtype::C64,        Dtype::F64,        Dtype::I64,    Dtype::U64 };

using random_pieces::changed;
using random_pieces::crowded;
using random_pieces::picked;
using random_pieces::positionsBelow;
using random_pieces::Random;

/// Bytes that end where their allocation ends, so that a sanitizer sees the first one behind them, and that start at an
/// odd address if `offset` is odd.
class ExactBytes {
public:
    explicit ExactBytes(ByteSpan bytes, std::size_t offset = 0)
        : m_bytes(std::make_unique<std::byte[]>(offset + bytes.size()))
        , m_span(m_bytes.get() + offset, bytes.size())
    {
        std::copy(bytes.begin(), bytes.end(), m_span.begin());
    }

    MutableByteSpan span() const { return m_span; }

private:
    std::unique_ptr<std::byte[]> m_bytes;
    MutableByteSpan m_span;
};

class DiffApplyConformance : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        const Result<std::shared_ptr<const Backend>> chosen = m_backends.choose(GetParam());
        if (!chosen)
            GTEST_SKIP() << chosen.error().text;
        m_backend = *chosen;
    }

    void expectAsScalar(const PatchPiece& piece, ByteSpan before, Dtype dtype, std::size_t offset = 0) const
    {
        const ExactBytes block(before, offset);
        const ExactBytes expected(before, offset);
        const PatchCounts counts = m_backends.all().front()->apply(piece, expected.span(), dtype);
        ASSERT_EQ(m_backend->apply(piece, block.span(), dtype), counts)
            << word(dtype) << ", piece " << piece.index() << ", " << before.size() << " bytes";
        ASSERT_TRUE(std::ranges::equal(block.span(), expected.span()))
            << word(dtype) << ", piece " << piece.index() << ", " << before.size() << " bytes";
    }

    /// Pieces of every kind on one block.
    void expectAll(ByteSpan before, Dtype dtype, Random& random) const
    {
        expectAsScalar({}, before, dtype);
        const std::vector<double> shares =
            test::UnderSanitizer ? std::vector { 0.1, 1.0 } : std::vector { 0.0, 0.003, 0.1, 1.0 };
        for (const double share : shares) {
            const std::vector<std::byte> start(before.begin(), before.end());
            const ExactBytes after(changed(start, share, random));
            const ExactBytes mask(changed(std::vector<std::byte>(before.size()), share, random));
            expectAsScalar(FullBlock { after.span() }, before, dtype);
            expectAsScalar(XorBlock { mask.span() }, before, dtype);
            const unsigned bits = bitsOf(dtype);
            for (const auto& positions : positionsBelow(before.size() * 8 / bits, random)) {
                expectAsScalar(AssignElements { positions, picked(after.span(), positions, bits) }, before, dtype);
                expectAsScalar(XorElements { positions, picked(mask.span(), positions, bits) }, before, dtype);
            }
            for (const auto& positions : positionsBelow(before.size(), random))
                expectAsScalar(AssignBytes { positions, picked(after.span(), positions, 8) }, before, dtype);
        }
        for (const auto& positions : positionsBelow(before.size() * 8 / bitsOf(dtype), random)) {
            if (dtype == Dtype::BF16 || dtype == Dtype::F16 || dtype == Dtype::F32)
                expectAsScalar(AddElements { positions, crowded(positions.size() * 4, random) }, before, dtype);
        }
    }

    const Backends m_backends = test::allBackends();
    std::shared_ptr<const Backend> m_backend;
};

std::vector<std::string> applierNames()
{
    const Backends backends = test::allBackends();
    std::vector<std::string> names;
    for (const auto& built : backends.all())
        names.emplace_back(built->name());
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, DiffApplyConformance, testing::ValuesIn(applierNames()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

TEST_P(DiffApplyConformance, EveryPieceOnBlocksOfEveryTypeAndLength)
{
    Random random(1);
    for (const Dtype dtype : All) {
        // Elements in fours, which fill whole bytes in every type: around one vector, and the 64 elements of some.
        for (const std::size_t elements : { 0, 4, 8, 12, 28, 32, 36, 60, 64, 68, 124, 128, 132, 516, 1000 })
            expectAll(crowded(elements * bitsOf(dtype) / 8, random), dtype, random);
    }
}

TEST_P(DiffApplyConformance, ElementsThatNoLengthOfVectorsDivides)
{
    Random random(2);
    for (const Dtype dtype : All) {
        if (bitsOf(dtype) % 8 != 0)
            continue;
        for (const std::size_t elements : { 1, 2, 3, 5, 31, 33, 63, 65, 127, 129, 191, 193 })
            expectAll(crowded(elements * bitsOf(dtype) / 8, random), dtype, random);
    }
}

TEST_P(DiffApplyConformance, WholeBlocks)
{
    Random random(3);
    for (const Dtype dtype : { Dtype::BF16, Dtype::F32 })
        expectAll(crowded(blockBytesOf(dtype), random), dtype, random);
}

TEST_P(DiffApplyConformance, StartsNeedNotBeAligned)
{
    Random random(4);
    for (const Dtype dtype : All) {
        const std::vector<std::byte> before = crowded(333 * bitsOf(dtype) / 8 / 3 * 3, random);
        const std::size_t size = before.size() * 8 / bitsOf(dtype) * bitsOf(dtype) / 8;
        const ByteSpan whole = ByteSpan(before).first(size);
        for (const auto& [blockAt, pieceAt] : { std::pair(1U, 0U), { 0U, 1U }, { 3U, 5U }, { 63U, 33U } }) {
            const ExactBytes piece(changed({ whole.begin(), whole.end() }, 0.3, random), pieceAt);
            expectAsScalar(FullBlock { piece.span() }, whole, dtype, blockAt);
            expectAsScalar(XorBlock { piece.span() }, whole, dtype, blockAt);
        }
    }
}

/// Each pattern of two bytes against patterns in which the counts of a FullBlock differ.
TEST_P(DiffApplyConformance, EveryPatternOfSixteenBits)
{
    constexpr std::uint16_t After[] = { 0x0000, 0x8000, 0x0080, 0x00ff, 0x7f80, 0x7fc0, 0xffff, 0x3f80 };
    for (const Dtype dtype : { Dtype::BF16, Dtype::F16, Dtype::I16, Dtype::U16 }) {
        std::vector<std::byte> before(std::size_t { 2 } << 16);
        for (std::size_t i = 0; i < before.size() / 2; ++i)
            storeLe<std::uint16_t>(before, 2 * i, static_cast<std::uint16_t>(i));
        for (const std::uint16_t pattern : After) {
            std::vector<std::byte> after(before.size());
            for (std::size_t i = 0; i < after.size() / 2; ++i)
                storeLe<std::uint16_t>(after, 2 * i, pattern);
            expectAsScalar(FullBlock { after }, before, dtype);
            expectAsScalar(XorBlock { after }, before, dtype);
            expectAsScalar(FullBlock { before }, after, dtype);
        }
    }
}

TEST_P(DiffApplyConformance, CountsOfAFullBlockAreThoseOfItsElements)
{
    const std::vector<std::uint16_t> one = { 0x0000, 0x8000, 0x7fc0, 0x3f80, 0x0000, 0x0001 };
    const std::vector<std::uint16_t> other = { 0x8000, 0x0000, 0x7fc0, 0x4080, 0x0000, 0x8002 };
    std::vector<std::uint16_t> block;
    std::vector<std::uint16_t> fresh;
    for (std::size_t i = 0; i < 100; ++i) { // whole vectors and a rest
        block.insert(block.end(), one.begin(), one.end());
        fresh.insert(fresh.end(), other.begin(), other.end());
    }
    PatchCounts counts;
    counts.changed = 400;
    counts.zeroSigns = 200;
    counts.sameLowByte = 300;
    EXPECT_EQ(m_backend->apply(FullBlock { std::as_bytes(std::span(fresh)) }, std::as_writable_bytes(std::span(block)),
                               Dtype::BF16),
              counts);
    EXPECT_EQ(block, fresh);
}

} // namespace
} // namespace deltascope
