#include "deltascope/engine/lineage.h"

#include "support/times.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

// splitEpochs: which versions times suggest to be the tail of an earlier run (docs/decisions/0009).

namespace deltascope {
namespace {

using test::Second;

VersionObjects publishedAt(std::int64_t step, std::int64_t us)
{
    VersionObjects version;
    version.step = step;
    version.objects = { ObjectInfo { std::to_string(step), 1, std::to_string(us), us, false, {} } };
    return version;
}

/// Epochs of versions 1, 2, … that were published at these seconds.
std::vector<int> epochsOf(const std::vector<std::int64_t>& seconds)
{
    std::vector<VersionObjects> versions;
    for (const std::int64_t at : seconds)
        versions.push_back(publishedAt(static_cast<std::int64_t>(versions.size()) + 1, at * Second));
    return splitEpochs(versions);
}

std::vector<int> epochsOfMicroseconds(const std::vector<std::int64_t>& times)
{
    std::vector<VersionObjects> versions;
    for (const std::int64_t at : times)
        versions.push_back(publishedAt(static_cast<std::int64_t>(versions.size()) + 1, at));
    return splitEpochs(versions);
}

using Epochs = std::vector<int>;

TEST(SplitEpochs, NoVersionsHaveNoEpochs) { EXPECT_EQ(splitEpochs({}), Epochs()); }

TEST(SplitEpochs, OneVersionIsOneEpoch) { EXPECT_EQ(epochsOf({ 5 }), Epochs({ 0 })); }

TEST(SplitEpochs, TimesThatGrowAreOneEpoch) { EXPECT_EQ(epochsOf({ 10, 20, 30, 40 }), Epochs({ 0, 0, 0, 0 })); }

TEST(SplitEpochs, EqualTimesAreOneEpoch) { EXPECT_EQ(epochsOf({ 7, 7, 7, 7 }), Epochs({ 0, 0, 0, 0 })); }

TEST(SplitEpochs, TheTailOfAnEarlierRunIsTheOlderEpoch)
{
    EXPECT_EQ(epochsOf({ 1000, 1010, 1020, 40, 50, 60 }), Epochs({ 1, 1, 1, 0, 0, 0 }));
}

TEST(SplitEpochs, TwoRestartsMakeThreeEpochs)
{
    EXPECT_EQ(epochsOf({ 3000, 3010, 2020, 2030, 1040, 1050 }), Epochs({ 2, 2, 1, 1, 0, 0 }));
}

TEST(SplitEpochs, ARestartThatHasWrittenOneStepIsSeen)
{
    EXPECT_EQ(epochsOf({ 5000, 20, 30, 40 }), Epochs({ 1, 0, 0, 0 }));
}

TEST(SplitEpochs, ATailOfOneStepIsSeen) { EXPECT_EQ(epochsOf({ 1000, 1010, 1020, 40 }), Epochs({ 1, 1, 1, 0 })); }

TEST(SplitEpochs, AnEarlierRestartThatWasOverwrittenLeavesNoTrace)
{
    // the second run wrote two steps, the third went past it: nothing of the second is left
    EXPECT_EQ(epochsOf({ 3000, 3010, 3020, 40, 50 }), Epochs({ 1, 1, 1, 0, 0 }));
}

TEST(SplitEpochs, OneLateFileDoesNotTearARun)
{
    EXPECT_EQ(epochsOf({ 10, 20, 900, 40, 50 }), Epochs({ 0, 0, 0, 0, 0 })); // step 3 was copied again
}

TEST(SplitEpochs, OneEarlyFileDoesNotTearARun)
{
    EXPECT_EQ(epochsOf({ 100, 110, 5, 130, 140 }), Epochs({ 0, 0, 0, 0, 0 }));
}

TEST(SplitEpochs, APauseOfADayIsNoRestart) { EXPECT_EQ(epochsOf({ 10, 20, 86'420, 86'430 }), Epochs({ 0, 0, 0, 0 })); }

TEST(SplitEpochs, StepsThatAreFarApartDoNotMatter)
{
    const std::vector<VersionObjects> versions = { publishedAt(1, 900 * Second), publishedAt(40, 910 * Second),
                                                   publishedAt(500, 5 * Second) };
    EXPECT_EQ(splitEpochs(versions), Epochs({ 1, 1, 0 }));
}

TEST(SplitEpochs, TwoSecondsBackMeanNothing)
{
    EXPECT_EQ(epochsOfMicroseconds({ 10 * Second, 8 * Second }), Epochs({ 0, 0 }));
}

TEST(SplitEpochs, MoreThanTwoSecondsBackAreARestart)
{
    EXPECT_EQ(epochsOfMicroseconds({ 10 * Second, 8 * Second - 1 }), Epochs({ 1, 0 }));
}

TEST(SplitEpochs, OneSecondBackIsARestartBetweenStepsPublishedOneAfterTheOther)
{
    EXPECT_EQ(epochsOf({ 15, 16, 12, 13, 14 }), Epochs({ 1, 1, 0, 0, 0 }));
    EXPECT_EQ(epochsOf({ 17, 18, 15, 16, 12, 13, 14 }), Epochs({ 2, 2, 1, 1, 0, 0, 0 }));
    EXPECT_EQ(epochsOfMicroseconds({ 15 * Second, 16 * Second, 12 * Second, 14 * Second + 1 }), Epochs({ 0, 0, 0, 0 }));
    EXPECT_EQ(epochsOf({ 15, 12, 13, 14 }), Epochs({ 0, 0, 0, 0 })); // one rewritten version
    EXPECT_EQ(epochsOf({ 15, 16, 17, 14 }), Epochs({ 0, 0, 0, 0 }));
    EXPECT_EQ(epochsOf({ 16, 15, 13, 14 }), Epochs({ 0, 0, 0, 0 })); // copied in any order
    EXPECT_EQ(epochsOf({ 15, 15, 14, 14 }), Epochs({ 0, 0, 0, 0 }));
}

TEST(SplitEpochs, TheNewestObjectOfAVersionIsItsTime)
{
    VersionObjects late = publishedAt(2, 5 * Second);
    late.objects.push_back(ObjectInfo { "marker", 1, "m", 2000 * Second, false, {} });
    EXPECT_EQ(splitEpochs({ publishedAt(1, 1000 * Second), late }), Epochs({ 0, 0 }));
}

TEST(SplitEpochs, ScrambledCopiesDoNotTearARun)
{
    // the first file of a parallel copy is not the last one in time, and the last one not the first
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        std::vector<std::int64_t> seconds(12);
        std::iota(seconds.begin(), seconds.end(), 100);
        std::shuffle(seconds.begin(), seconds.end(), random);
        std::iter_swap(seconds.begin(), std::min_element(seconds.begin(), seconds.end()));
        EXPECT_EQ(epochsOf(seconds), Epochs(12, 0)) << round;
    }
}

TEST(SplitEpochs, RandomRestartsAreFoundExactly)
{
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> writtenAt;
        std::vector<int> run;
        std::int64_t now = 1000;
        const int runs = 1 + static_cast<int>(random() % 4);
        for (int r = 0; r < runs; ++r) {
            const std::size_t steps = 1 + random() % 10;
            now += 3600;
            for (std::size_t step = 0; step < steps; ++step) {
                if (step == writtenAt.size()) {
                    writtenAt.push_back(0);
                    run.push_back(0);
                }
                now += 3 + static_cast<std::int64_t>(random() % 60);
                writtenAt[step] = now;
                run[step] = r;
            }
        }
        // a run of which nothing is left has no number; a run that goes on behind the end of the one before cannot be
        // told from its tail only if it overwrote it whole
        std::vector<int> left = run;
        std::sort(left.begin(), left.end());
        left.erase(std::unique(left.begin(), left.end()), left.end());
        Epochs expected;
        for (const int r : run)
            expected.push_back(static_cast<int>(std::lower_bound(left.begin(), left.end(), r) - left.begin()));
        EXPECT_EQ(epochsOf(writtenAt), expected) << round;
    }
}

} // namespace
} // namespace deltascope
