#include "audit/tensor_moves.h"

#include "base/float16.h"
#include "support/backends.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace deltascope {
namespace {

using Bits = std::vector<std::uint16_t>;

constexpr std::size_t Elements = 4096;

ByteSpan bytesOf(const Bits& bits) { return std::as_bytes(std::span(bits)); }

Bits randomState(std::mt19937& random)
{
    std::normal_distribution<float> values(0, 0.02F);
    Bits bits(Elements);
    for (std::uint16_t& element : bits)
        element = floatToBf16(values(random));
    return bits;
}

/// Every element again, one after another, with nothing but floats.
TensorMoves slowly(const Bits& before, const Bits& after)
{
    TensorMoves moves;
    const auto position = [](std::uint16_t bits) {
        const int size = bits & 0x7fff;
        return (bits & 0x8000) != 0 ? -1 - size : size;
    };
    for (std::size_t i = 0; i < before.size(); ++i) {
        const float a = bf16ToFloat(before[i]);
        const float b = bf16ToFloat(after[i]);
        moves.notFinite += !std::isfinite(b);
        moves.constant = moves.constant && after[i] == after[0];
        moves.zero = moves.zero && moves.constant && b == 0;
        if (before[i] == after[i])
            continue;
        ++moves.changed;
        moves.newNotFinite += !std::isfinite(b);
        if (std::isnan(a) || std::isnan(b))
            continue;
        moves.signFlips += std::signbit(a) != std::signbit(b);
        const auto apart = static_cast<std::uint64_t>(std::abs(position(before[i]) - position(after[i])));
        moves.largestStep = std::max(moves.largestStep, apart);
        std::size_t bin = 0;
        while ((std::uint64_t { 1 } << bin) < apart)
            ++bin;
        ++moves.steps.all[bin];
        moves.steps.sameLowByte[bin] += (before[i] & 0xff) == (after[i] & 0xff);
        if (std::isfinite(a) && std::isfinite(b))
            moves.squares += (static_cast<double>(b) - a) * (static_cast<double>(b) - a);
    }
    return moves;
}

void expectEqual(const TensorMoves& found, const TensorMoves& wanted)
{
    EXPECT_EQ(found.changed, wanted.changed);
    EXPECT_EQ(found.signFlips, wanted.signFlips);
    EXPECT_EQ(found.largestStep, wanted.largestStep);
    EXPECT_EQ(found.steps, wanted.steps);
    EXPECT_NEAR(found.squares, wanted.squares, 1e-9 * wanted.squares);
    EXPECT_EQ(found.newNotFinite, wanted.newNotFinite);
    EXPECT_EQ(found.notFinite, wanted.notFinite);
    EXPECT_EQ(found.constant, wanted.constant);
    EXPECT_EQ(found.zero, wanted.zero);
}

std::unique_ptr<MoveMeter> meterOf(Dtype dtype, std::size_t versions)
{
    return MoveMeter::of(dtype, versions, *Backends::builtin().choose(""));
}

/// Shows a meter one version in two blocks, in each form that a patch may have.
class Meter : public testing::TestWithParam<int> {
protected:
    static constexpr std::size_t Half = Elements / 2;

    Bits measured(const Bits& before, const Bits& after)
    {
        const auto meter = meterOf(Dtype::BF16, 2);
        for (std::size_t begin = 0; begin < Elements; begin += Half) {
            const ByteSpan old = bytesOf(before).subspan(2 * begin, 2 * Half);
            const ByteSpan fresh = bytesOf(after).subspan(2 * begin, 2 * Half);
            std::vector<std::byte> state(old.begin(), old.end());
            meter->onBlock(0, state);
            m_elements.clear();
            m_bits.clear();
            const PatchPiece piece = pieceOf(before, after, begin, fresh);
            meter->onPiece(1, state, piece);
            test::applyPiece(piece, state, Dtype::BF16);
            EXPECT_TRUE(std::equal(state.begin(), state.end(), fresh.begin()));
            meter->onBlock(1, state);
        }
        meter->finish();
        EXPECT_EQ(meter->start(), 0U);
        m_moves = meter->moves().at(1);
        return after;
    }

    TensorMoves m_moves;

private:
    PatchPiece pieceOf(const Bits& before, const Bits& after, std::size_t begin, ByteSpan fresh)
    {
        if (GetParam() == 0)
            return FullBlock { fresh };
        for (std::size_t i = 0; i < Half; ++i) {
            const auto mask = static_cast<std::uint16_t>(before[begin + i] ^ after[begin + i]);
            if (GetParam() == 3) {
                m_bits.push_back(mask);
            } else if (mask != 0 || i % 7 == 0) { // no-ops among them
                m_elements.push_back(static_cast<std::uint32_t>(i));
                m_bits.push_back(GetParam() == 1 ? after[begin + i] : mask);
            }
        }
        if (GetParam() == 1)
            return AssignElements { m_elements, bytesOf(m_bits) };
        if (GetParam() == 2)
            return XorElements { m_elements, bytesOf(m_bits) };
        return XorBlock { bytesOf(m_bits) };
    }

    std::vector<std::uint32_t> m_elements;
    Bits m_bits;
};

INSTANTIATE_TEST_SUITE_P(Pieces, Meter, testing::Values(0, 1, 2, 3));

TEST_P(Meter, AgreesWithTheSlowOne)
{
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        const Bits before = randomState(random);
        Bits after = before;
        for (int i = 0; i < 300; ++i) {
            std::uint16_t& element = after[random() % Elements];
            switch (random() % 5) {
            case 0:
                element ^= 0x8000;
                break;
            case 1:
                element = static_cast<std::uint16_t>(random());
                break;
            default:
                ++element;
            }
        }
        measured(before, after);
        expectEqual(m_moves, slowly(before, after));
    }
}

TEST_P(Meter, TakesInfinityAndNanAsTheSlowOne)
{
    std::mt19937 random(9);
    for (int round = 0; round < 20; ++round) {
        Bits before = randomState(random);
        Bits after = before;
        for (const std::uint16_t special : { 0x7f80, 0xff80, 0x7f7f, 0x7fc0, 0xff81, 0x0000, 0x8000 })
            for (int i = 0; i < 200; ++i) { // among them some that stay as they are, and some that are special in both
                before[random() % Elements] = special;
                after[random() % Elements] = special;
            }
        measured(before, after);
        expectEqual(m_moves, slowly(before, after));
    }
}

TEST_P(Meter, TakesElementsThatAllChange)
{
    std::mt19937 random(10);
    const Bits before = randomState(random);
    Bits after = before;
    for (std::uint16_t& element : after)
        element = static_cast<std::uint16_t>(element ^ (1 + random() % 0x3f));
    measured(before, after);
    EXPECT_EQ(m_moves.changed, Elements);
    expectEqual(m_moves, slowly(before, after));
}

TEST_P(Meter, SeesOneValueAcrossBlocks)
{
    std::mt19937 random(8);
    const Bits before = randomState(random);
    for (const std::uint16_t value : { 0x0000, 0x8000, 0x3f80 }) {
        const Bits after(Elements, value);
        measured(before, after);
        expectEqual(m_moves, slowly(before, after));
        EXPECT_TRUE(m_moves.constant);
        EXPECT_EQ(m_moves.zero, value != 0x3f80);
    }
    Bits halves(Elements, 0x3f80);
    std::fill(halves.begin() + Elements / 2, halves.end(), 0x3f81); // each block has one value, the tensor two
    measured(before, halves);
    EXPECT_FALSE(m_moves.constant);
}

TEST(MoveMeter, KnowsTheStateThatItBeginsWith)
{
    Bits state(Elements, floatToBf16(2));
    state[5] = 0x7f80;
    state[6] = 0x7fc0;
    const auto meter = meterOf(Dtype::BF16, 3);
    meter->onBlock(0, bytesOf(state));
    const std::vector<std::uint32_t> elements { 5 };
    const Bits one { 0x3f80 };
    meter->onPiece(1, bytesOf(state), AssignElements { elements, bytesOf(one) });
    state[5] = 0x3f80;
    meter->onBlock(1, bytesOf(state));
    meter->onPiece(2, bytesOf(state), std::monostate());
    meter->onBlock(2, bytesOf(state));
    meter->finish();
    EXPECT_EQ(meter->squares(), 0) << "infinity has no norm";
    EXPECT_EQ(meter->moves()[0].notFinite, 2);
    EXPECT_EQ(meter->moves()[1].notFinite, 1);
    EXPECT_EQ(meter->moves()[2].notFinite, 1);
    EXPECT_EQ(meter->moves()[2].changed, 0U);
}

TEST(MoveMeter, TakesTheNormOfTheStateThatItBeginsWith)
{
    const Bits state(Elements, floatToBf16(-2));
    const auto meter = meterOf(Dtype::BF16, 1);
    meter->onBlock(0, bytesOf(state));
    meter->finish();
    EXPECT_DOUBLE_EQ(meter->squares(), 4.0 * Elements);
}

TEST(MoveMeter, OnlyFloatingTypesMove)
{
    for (const Dtype dtype : { Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::F8E4M3, Dtype::F8E5M2 })
        EXPECT_NE(meterOf(dtype, 1), nullptr);
    for (const Dtype dtype : { Dtype::I64, Dtype::U8, Dtype::Bool, Dtype::F4, Dtype::C64 })
        EXPECT_EQ(meterOf(dtype, 1), nullptr);
}

} // namespace
} // namespace deltascope
