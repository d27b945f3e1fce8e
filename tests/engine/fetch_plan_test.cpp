#include "store/cache/fetch_plan.h"

#include "support/sizes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

// Which leaves of an object are fetched when some are wanted.

namespace deltascope {
namespace {

using test::MiB;

class FetchPlan : public testing::Test {
protected:
    std::vector<LeafRange> plan(std::uint64_t sizeBytes, std::vector<std::uint64_t> missing)
    {
        FetchWish wish { sizeBytes, std::move(missing), present.empty(), window, ahead, isPlanned };
        return planFetch(wish, [&](std::uint64_t leaf) { return !present.contains(leaf); });
    }
    using Ranges = std::vector<LeafRange>;

    std::set<std::uint64_t> present;
    std::uint64_t window = 1024 * MiB;
    std::uint64_t ahead = 1024 * MiB;
    bool isPlanned = false;
};

TEST_F(FetchPlan, AFirstLookAtTheFrontFetchesItsLeafAlone)
{
    EXPECT_EQ(plan(40 * MiB, { 0 }), (Ranges { { 0, 1 } }));
    EXPECT_EQ(plan(400 * MiB, { 0 }), (Ranges { { 0, 1 } }));
    EXPECT_EQ(plan(10, { 0 }), (Ranges { { 0, 1 } }));
}

TEST_F(FetchPlan, MoreOfASmallObjectFetchesTheRestOfIt)
{
    present = { 0 };
    EXPECT_EQ(plan(10 * MiB + 1, { 1 }), (Ranges { { 1, 3 }, { 4, 4 }, { 8, 3 } }));
    present = {};
    EXPECT_EQ(plan(6 * MiB, { 0, 1 }), (Ranges { { 0, 4 }, { 4, 2 } }));
    EXPECT_EQ(plan(6 * MiB, { 5 }), (Ranges { { 0, 4 }, { 4, 2 } }));
    present = { 5 };
    EXPECT_EQ(plan(8 * MiB, { 6 }), (Ranges { { 0, 4 }, { 4, 1 }, { 6, 2 } }));
}

TEST_F(FetchPlan, NothingBeyondTheWindowIsFetchedWhereThatIsPlanned)
{
    present = { 0 };
    isPlanned = true;
    EXPECT_EQ(plan(10 * MiB + 1, { 1 }), (Ranges { { 1, 3 } }));
    present = { 0, 1, 2, 3, 4, 5, 6, 7 };
    EXPECT_EQ(plan(100 * MiB, { 8 }), (Ranges { { 8, 4 } }));
    window = MiB; // no room for the rest of it
    EXPECT_EQ(plan(100 * MiB, { 9 }), (Ranges { { 9, 1 } }));
}

TEST_F(FetchPlan, OfALargeObjectTheWindowIsFetched)
{
    EXPECT_EQ(plan(64 * MiB, { 9 }), (Ranges { { 8, 4 } }));
    EXPECT_EQ(plan(64 * MiB, { 63 }), (Ranges { { 60, 4 } }));
    EXPECT_EQ(plan(64 * MiB + 5, { 64 }), (Ranges { { 64, 1 } }));
    EXPECT_EQ(plan(100 * MiB, { 3, 4, 50 }), (Ranges { { 0, 4 }, { 4, 4 }, { 48, 4 } }));
}

TEST_F(FetchPlan, WhoReadsALargeObjectFromFrontToBackGetsMoreAhead)
{
    present = { 0, 1, 2, 3 };
    EXPECT_EQ(plan(100 * MiB, { 4 }), (Ranges { { 4, 4 }, { 8, 4 } }));
    for (std::uint64_t leaf = 4; leaf < 40; ++leaf)
        present.insert(leaf);
    EXPECT_EQ(plan(100 * MiB, { 40 }), (Ranges { { 40, 4 }, { 44, 4 }, { 48, 4 }, { 52, 4 } }));
    EXPECT_EQ(plan(100 * MiB, { 60 }), (Ranges { { 60, 4 } }));
}

TEST_F(FetchPlan, WithoutRoomOnlyWhatIsWantedIsFetched)
{
    ahead = 0;
    EXPECT_EQ(plan(40 * MiB, { 9 }), (Ranges { { 8, 4 } }));
    ahead = 9 * MiB;
    EXPECT_EQ(plan(40 * MiB, { 9 }), (Ranges { { 8, 4 }, { 12, 4 }, { 16, 4 } }));
    window = 2 * MiB;
    ahead = 0;
    EXPECT_EQ(plan(40 * MiB, { 9, 10 }), (Ranges { { 8, 4 } }));
    window = 0;
    EXPECT_EQ(plan(40 * MiB, { 9, 11 }), (Ranges { { 9, 1 }, { 11, 1 } }));
}

/// However an object is read, each leaf is fetched once, and an object takes at most one request beyond its windows.
TEST_F(FetchPlan, EachLeafIsFetchedOnce)
{
    for (const std::uint64_t size : { 1 * MiB, 5 * MiB + 3, 63 * MiB, 64 * MiB, 131 * MiB + 7 }) {
        for (unsigned seed = 0; seed < 5; ++seed) {
            present.clear();
            std::size_t requests = 0;
            const std::uint64_t leaves = leavesOfSize(size);
            std::vector<std::uint64_t> order(leaves);
            std::iota(order.begin(), order.end(), 0U);
            if (seed > 0)
                std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
            for (const std::uint64_t leaf : order) {
                if (present.contains(leaf))
                    continue;
                for (const LeafRange& range : plan(size, { leaf })) {
                    ++requests;
                    for (std::uint64_t one = range.first; one < range.end(); ++one)
                        EXPECT_TRUE(present.insert(one).second) << size << ' ' << one;
                }
            }
            EXPECT_EQ(present.size(), leaves);
            EXPECT_LE(requests, (size + 4 * MiB - 1) / (4 * MiB) + 1);
        }
    }
}

} // namespace
} // namespace deltascope
