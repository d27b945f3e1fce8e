#include "catalog/packed_counts.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>

// Counts of tensors as the catalog packs them.

namespace deltascope {
namespace {

using Counts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(PackedCounts, NothingPacksToNothing)
{
    EXPECT_TRUE(packCounts({}).empty());
    EXPECT_EQ(unpackCounts({}), Counts());
}

TEST(PackedCounts, RoundTripInOrderOfIds)
{
    EXPECT_EQ(unpackCounts(packCounts({ { 300, 1 }, { 2, 127 }, { 3, 128 }, { 40'000, 0 } })),
              (Counts { { 2, 127 }, { 3, 128 }, { 300, 1 }, { 40'000, 0 } }));
}

TEST(PackedCounts, TheLargestNumbersRoundTrip)
{
    constexpr std::uint64_t Largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(unpackCounts(packCounts({ { 0, Largest }, { Largest, Largest } })),
              (Counts { { 0, Largest }, { Largest, Largest } }));
}

TEST(PackedCounts, RandomCountsRoundTrip)
{
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        std::map<std::uint64_t, std::uint64_t> counts;
        for (std::size_t i = random() % 50; i > 0; --i)
            counts[random() >> (random() % 64)] = random() >> (random() % 64);
        EXPECT_EQ(unpackCounts(packCounts({ counts.begin(), counts.end() })), Counts(counts.begin(), counts.end()));
    }
}

TEST(PackedCounts, EveryTruncationInsideAPairIsRefused)
{
    const std::vector<std::byte> bytes = packCounts({ { 200, 300 } });
    for (std::size_t size = 1; size < bytes.size(); ++size)
        EXPECT_FALSE(unpackCounts(ByteSpan(bytes).first(size))) << size;
}

TEST(PackedCounts, ANumberThatNeverEndsIsRefused)
{
    EXPECT_FALSE(unpackCounts(std::vector<std::byte>(40, std::byte { 0xff })));
}

TEST(PackedCounts, RandomBytesAreReadOrRefused)
{
    std::mt19937 random(2);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> bytes(random() % 30);
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random());
        const auto counts = unpackCounts(bytes);
        EXPECT_TRUE(!counts || counts->size() * 2 <= bytes.size()) << round;
    }
}

} // namespace
} // namespace deltascope
