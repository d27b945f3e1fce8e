#include "audit/value_history.h"

#include <gtest/gtest.h>

namespace deltascope {
namespace {

/// A delta that moves `changed` elements to their neighbors, and a thousandth of the tensor's norm.
TensorMoves usual(std::uint64_t changed = 100)
{
    TensorMoves moves;
    moves.changed = changed;
    moves.signFlips = changed / 20;
    moves.largestStep = 2;
    moves.steps.all[0] = changed - 1;
    moves.steps.all[1] = 1;
    moves.squares = 1e-6;
    moves.constant = moves.zero = false;
    return moves;
}

ValueHistory historyOf(int deltas)
{
    ValueHistory history;
    for (int i = 0; i < deltas; ++i)
        history.add(usual(), 1);
    return history;
}

std::optional<Suspicion> judged(const ValueHistory& history, const TensorMoves& moves, double squares = 1)
{
    const std::optional<SuspectTensor> suspect = history.judge(usual(), moves, squares, 200);
    return suspect ? std::optional(suspect->suspicion) : std::nullopt;
}

TEST(ValueHistory, WhatTheStateShowsNeedsNoMeasure)
{
    TensorMoves moves = usual();
    moves.notFinite = 1;
    EXPECT_EQ(judged(ValueHistory(), moves), std::nullopt); // it was so before
    moves.newNotFinite = 1;
    EXPECT_EQ(judged(ValueHistory(), moves), Suspicion::NotFinite);
    moves = usual();
    moves.constant = true;
    EXPECT_EQ(judged(ValueHistory(), moves), std::nullopt); // a thousandth: all were almost equal before
    moves.squares = 0.25;
    EXPECT_EQ(judged(ValueHistory(), moves), Suspicion::Constant);
    moves.zero = true;
    EXPECT_EQ(judged(ValueHistory(), moves), Suspicion::Zero);

    moves.changed = 99; // less than half of it: it was almost zero before
    EXPECT_EQ(judged(ValueHistory(), moves), std::nullopt);

    TensorMoves already = usual();
    already.notFinite = 1;
    already.constant = already.zero = true;
    moves.notFinite = 2;
    EXPECT_FALSE(ValueHistory().judge(already, moves, 1, 200)); // nothing of it is new
}

TEST(ValueHistory, MovesNeedTwoDeltasToCompareWith)
{
    TensorMoves far = usual();
    far.squares = 1;
    EXPECT_EQ(judged(historyOf(1), far), std::nullopt);
    EXPECT_EQ(judged(historyOf(2), far), Suspicion::Move);
}

TEST(ValueHistory, AMoveMustBeFarAndNoticeable)
{
    TensorMoves moves = usual();
    moves.squares = 0.031 * 0.031; // 31 times as far
    EXPECT_EQ(judged(historyOf(5), moves), std::nullopt);
    moves.squares = 0.033 * 0.033;
    EXPECT_EQ(judged(historyOf(5), moves), Suspicion::Move);
    EXPECT_EQ(judged(historyOf(5), moves, 0), std::nullopt); // a tensor without a norm, as LoRA's B is at first
    ValueHistory zeros;
    for (int i = 0; i < 5; ++i)
        zeros.add(usual(), 0);
    EXPECT_EQ(judged(zeros, moves), std::nullopt); // and behind its first anchor

    ValueHistory still; // each delta a millionth: 1 percent is far, and still what bf16 does where it rounds
    for (int i = 0; i < 5; ++i) {
        TensorMoves small = usual();
        small.squares = 1e-12;
        still.add(small, 1);
    }
    moves.squares = 0.0099 * 0.0099;
    EXPECT_EQ(judged(still, moves), std::nullopt);
    moves.squares = 0.0101 * 0.0101;
    EXPECT_EQ(judged(still, moves), Suspicion::Move);
}

TEST(ValueHistory, FewElementsMustLeaveTheRangeOfTheTensor)
{
    TensorMoves moves = usual(16);
    moves.squares = 2 * 2; // the largest element turns its sign
    EXPECT_EQ(judged(historyOf(5), moves), std::nullopt);
    moves.squares = 1e30; // a bit of an exponent
    EXPECT_EQ(judged(historyOf(5), moves), Suspicion::Move);
}

TEST(ValueHistory, OneDeltaDoesNotRaiseItsOwnLimit)
{
    TensorMoves far = usual();
    far.squares = 1;
    ValueHistory history = historyOf(5);
    history.add(far, 1);
    EXPECT_EQ(judged(history, far), Suspicion::Move);
    history.add(far, 1); // what happens again and again is how this run is
    EXPECT_EQ(judged(history, far), std::nullopt);
}

TEST(ValueHistory, SignsTurnOverInNumbers)
{
    TensorMoves moves = usual();
    moves.signFlips = 34;
    EXPECT_EQ(judged(historyOf(3), moves), std::nullopt);
    moves.signFlips = 36; // more than twice 5 percent and 25 percent
    EXPECT_EQ(judged(historyOf(3), moves), Suspicion::SignFlips);
    moves = usual(16);
    moves.signFlips = 16;
    EXPECT_EQ(judged(historyOf(3), moves), std::nullopt);
}

TEST(ValueHistory, DistancesAreKnownToTheNextPowerOfTwo)
{
    TensorMoves moves = usual();
    moves.largestStep = 17;
    moves.steps.all[StepCounts::binOf(16)] = 17; // eight times the two of the deltas: not over it
    EXPECT_EQ(historyOf(2).farMoved(moves, true), 0U);
    moves.steps.all[StepCounts::binOf(17)] = 17;
    EXPECT_EQ(historyOf(2).farMoved(moves, true), 17U);
    EXPECT_EQ(judged(historyOf(2), moves), Suspicion::UlpDistance);
    moves.steps.sameLowByte[StepCounts::binOf(17)] = 4;
    EXPECT_EQ(historyOf(2).farMoved(moves, false), 13U);
    EXPECT_EQ(historyOf(1).farMoved(moves, true), std::nullopt);
}

TEST(ValueHistory, OnlyWhatAlwaysChangesIsMissedWhenItDoesNot)
{
    EXPECT_EQ(historyOf(4).alwaysChanged(), std::nullopt);
    EXPECT_EQ(historyOf(5).alwaysChanged(), 100U);
    ValueHistory history = historyOf(9);
    history.add(usual(63), 1);
    EXPECT_EQ(history.alwaysChanged(), std::nullopt);
    for (int i = 0; i < 10; ++i)
        history.add(usual(64), 1);
    EXPECT_EQ(history.alwaysChanged(), 64U); // the last ten count
    history.add({}, 1);
    EXPECT_EQ(history.alwaysChanged(), std::nullopt);
}

TEST(ValueHistory, AnAnchorMayMoveWhatNoDeltaTouchesByLittle)
{
    ValueHistory history;
    history.add({}, 1);
    history.add({}, 1);
    TensorMoves moves = usual();
    moves.squares = 0.25;
    EXPECT_FALSE(history.judgeAnchor(usual(), moves, 1, 200));
    moves.squares = 0.26;
    EXPECT_EQ(history.judgeAnchor(usual(), moves, 1, 200)->suspicion, Suspicion::Move);
    EXPECT_FALSE(historyOf(2).judgeAnchor(usual(), moves, 1, 200)); // drift has a measure of its own
}

TEST(ValueHistory, AnAnchorEndsWhatItDoesNotHold)
{
    TensorMoves sound = usual();
    for (const Suspicion suspicion :
         { Suspicion::NotFinite, Suspicion::Zero, Suspicion::Constant, Suspicion::NotChanged, Suspicion::Wrap })
        EXPECT_FALSE(stillHolds({ "w", suspicion, 1, 0 }, sound, 1)) << word(suspicion);
    TensorMoves same = sound;
    same.notFinite = 1;
    same.zero = same.constant = true;
    for (const Suspicion suspicion : { Suspicion::NotFinite, Suspicion::Zero, Suspicion::Constant })
        EXPECT_TRUE(stillHolds({ "w", suspicion, 1, 0 }, same, 1)) << word(suspicion);

    const SuspectTensor moved { "w", Suspicion::Move, 0.5, 0.001 };
    EXPECT_TRUE(stillHolds(moved, sound, 1));
    TensorMoves back = usual();
    back.squares = 0.25;
    EXPECT_FALSE(stillHolds(moved, back, 1));
}

} // namespace
} // namespace deltascope
