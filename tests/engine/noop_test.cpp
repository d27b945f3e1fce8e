#include "lineage/loss_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// The statistical test of no-ops: its probabilities, and how often it is wrong (docs/formats/dsm1.md, section 6).

namespace deltascope {
namespace {

double choose(unsigned n, unsigned k)
{
    double product = 1;
    for (unsigned i = 1; i <= k; ++i)
        product = product * (n - k + i) / i;
    return product;
}

/// By counting: `draws` of `draws + others` assignments are the suspect's, `noops` of all are no-ops.
double countedTail(unsigned hits, unsigned draws, unsigned others, unsigned noops)
{
    double sum = 0;
    for (unsigned x = hits; x <= std::min(draws, noops); ++x) {
        if (noops - x <= others)
            sum += choose(draws, x) * choose(others, noops - x);
    }
    return sum / choose(draws + others, noops);
}

double binomial(unsigned n, unsigned k, double share)
{
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(share)
                    + (n - k) * std::log1p(-share));
}

TEST(NoopProbability, IsThatOfCounting)
{
    for (unsigned draws = 1; draws <= 12; ++draws) {
        for (unsigned others = 1; others <= 12; ++others) {
            for (unsigned hits = 0; hits <= draws; ++hits) {
                for (unsigned rest = 0; rest <= others; ++rest) {
                    const double counted = countedTail(hits, draws, others, hits + rest);
                    const double found = probabilityOfNoops({ hits, draws }, { rest, others });
                    if (found < 1)
                        EXPECT_NEAR(found / counted, 1, 1e-11) << hits << '/' << draws << ' ' << rest << '/' << others;
                    else
                        EXPECT_GE(counted, 0.2) << hits << '/' << draws << ' ' << rest << '/' << others;
                }
            }
        }
    }
}

TEST(NoopProbability, OfMeasuredRuns)
{
    EXPECT_NEAR(probabilityOfNoops({ 8, 277 }, { 0, 1593 }), 2.1e-7, 0.1e-7); // a delta behind a lost one
    EXPECT_NEAR(probabilityOfNoops({ 1, 300 }, { 0, 2261 }), 300.0 / 2561, 1e-12);
}

TEST(NoopProbability, IsNeverTooSmallForHugeCounts)
{
    // half of 10^12 assignments each; the suspect has z standard deviations too many
    for (const double share : { 1e-6, 1e-4, 1e-2, 0.5 }) {
        for (const double z : { 3.3, 4.0, 4.9, 6.0 }) {
            const double each = 5e11;
            const double expected = each * share;
            const double deviation = std::sqrt(expected * (1 - share) / 2);
            const auto hits = static_cast<std::uint64_t>(expected + z * deviation);
            const auto rest = static_cast<std::uint64_t>(2 * expected) - hits;
            const double found = probabilityOfNoops({ hits, 500'000'000'000 }, { rest, 500'000'000'000 });
            const double normal = std::erfc(z / std::sqrt(2.0)) / 2;
            EXPECT_GT(found, normal * 0.95) << share << ' ' << z;
            EXPECT_LT(found, normal * 1.2) << share << ' ' << z;
        }
    }
}

TEST(NoopProbability, FallsAsNoopsGrow)
{
    double before = 1;
    for (std::uint64_t noops = 0; noops <= 500; ++noops) {
        const double now = probabilityOfNoops({ noops, 500 }, { 3, 4000 });
        EXPECT_LE(now, before) << noops;
        before = now;
    }
    EXPECT_EQ(probabilityOfNoops({ 1'000'000'000'000, 1'000'000'000'000 }, { 0, 1'000'000'000'000 }), 0.0);
}

TEST(NoopProbability, OfAShareIsThatOfTheBinomial)
{
    for (unsigned noops = 30; noops <= 60; noops += 5) {
        double sum = 0;
        for (unsigned k = noops; k <= 1000; ++k)
            sum += binomial(1000, k, 0.02);
        EXPECT_NEAR(probabilityOfNoops({ noops, 1000 }, 0.02) / sum, 1, 1e-9) << noops;
    }
}

TEST(NoopVerdict, OfMeasuredRuns)
{
    EXPECT_EQ(judgeNoops({ 8, 277 }, { 0, 1593 }), NoopVerdict::Loss);
    EXPECT_EQ(judgeNoops({ 66, 900 }, { 0, 1494 }), NoopVerdict::Loss);
    EXPECT_EQ(judgeNoops({ 31, 269 }, { 0, 1930 }), NoopVerdict::Loss);
    EXPECT_EQ(judgeNoops({ 115, 6682 }, { 0, 20'000 }), NoopVerdict::Loss);
    EXPECT_EQ(judgeNoops({ 7, 1618 }, { 35, 5292 }), NoopVerdict::Habit); // a writer that guesses, sound
    EXPECT_EQ(judgeNoops({ 1, 300 }, { 0, 2261 }), NoopVerdict::Habit);
}

TEST(NoopVerdict, WithoutNoopsNothingSpeaksForALoss)
{
    EXPECT_EQ(judgeNoops({ 0, 1'000'000 }, { 0, 0 }), NoopVerdict::Habit);
    EXPECT_EQ(judgeNoops({ 0, 0 }, { 0, 0 }), NoopVerdict::Habit);
}

TEST(NoopVerdict, BetweenHabitAndProofNothingIsExplained)
{
    EXPECT_EQ(judgeNoops({ 5, 300 }, { 0, 1593 }), NoopVerdict::Unexplained);
    EXPECT_EQ(judgeNoops({ 3, 300 }, { 0, 1593 }), NoopVerdict::Habit);
}

TEST(NoopVerdict, WithoutAHabitTwoPercentProveNothing)
{
    EXPECT_EQ(judgeNoops({ 7, 1618 }, {}), NoopVerdict::Unexplained);
    EXPECT_EQ(judgeNoops({ 200'000, 10'000'000 }, {}), NoopVerdict::Unexplained);
    EXPECT_EQ(judgeNoops({ 139, 1029 }, {}), NoopVerdict::Loss);
    EXPECT_EQ(judgeNoops({ 1, 3 }, {}), NoopVerdict::Unexplained); // a third, but of three
    EXPECT_EQ(judgeNoops({ 139, 1029 }, { 0, LeastHabit - 1 }), NoopVerdict::Loss); // too few to be a habit
}

/// How probable it is that a sound delta is judged `verdict`, if all assignments of the run have this share of no-ops.
double probabilityOf(NoopVerdict verdict, unsigned draws, unsigned others, double share)
{
    double sum = 0;
    for (unsigned rest = 0; rest <= others; ++rest) {
        const double ofHabit = binomial(others, rest, share);
        if (ofHabit < 1e-14)
            continue;
        for (unsigned hits = 1; hits <= draws; ++hits) {
            if (judgeNoops({ hits, draws }, { rest, others }) == verdict)
                sum += ofHabit * binomial(draws, hits, share);
        }
    }
    return sum;
}

TEST(NoopVerdict, ASoundDeltaIsTakenForALossAtMostOnceInAMillion)
{
    for (const double share : { 0.0005, 0.004, 0.013, 0.02 }) {
        for (const unsigned draws : { 1U, 30U, 300U }) {
            for (const unsigned others : { 50U, 100U, 400U })
                EXPECT_LE(probabilityOf(NoopVerdict::Loss, draws, others, share), LossProbability)
                    << share << ' ' << draws << ' ' << others;
        }
    }
    for (const double share : { 0.1, 0.5 }) // a habit is believed, whatever it is
        EXPECT_LE(probabilityOf(NoopVerdict::Loss, 200, 200, share), LossProbability) << share;
}

TEST(NoopVerdict, AKnownHabitLeavesASoundDeltaUnexplainedAtMostOnceInAThousand)
{
    for (const double share : { 0.0005, 0.004, 0.02 })
        EXPECT_LE(probabilityOf(NoopVerdict::Unexplained, 300, 400, share), HabitProbability) << share;
}

TEST(NoopVerdict, InSimulatedRunsNoSoundStepIsALoss)
{
    std::mt19937_64 random(20'260'801);
    std::uint64_t unexplained = 0;
    std::uint64_t steps = 0;
    for (int run = 0; run < 2000; ++run) {
        const double share = 0.013 * std::generate_canonical<double, 53>(random);
        NoopCounts habit;
        for (int step = 0; step < 50; ++step) {
            const std::uint64_t assigned = 200 + random() % 5000;
            NoopCounts delta { 0, assigned };
            delta.noops = std::binomial_distribution<std::uint64_t>(assigned, share)(random);
            const NoopVerdict verdict = judgeNoops(delta, habit);
            ASSERT_NE(verdict, NoopVerdict::Loss) << delta.noops << '/' << assigned;
            unexplained += step > 0 && verdict == NoopVerdict::Unexplained;
            habit += delta;
            ++steps;
        }
    }
    EXPECT_LE(unexplained, steps / 500);
}

} // namespace
} // namespace deltascope
