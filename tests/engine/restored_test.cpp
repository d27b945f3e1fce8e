#include "trained_run.h"

// A roll back publishes an earlier state again, as a delta behind the newest version, and says so (fact::Restores).

namespace deltascope {
namespace {

using namespace layout_test;

/// What the versions of a run record of their states.
enum class Roots : std::uint8_t { All, RollBack, None };

Change between(const Words16& from, const Words16& to)
{
    Change change;
    for (std::uint32_t at = 0; at < from.size(); ++at) {
        if (from[at] != to[at])
            change[at] = to[at];
    }
    return change;
}

/// A run that is written version by version: the newest state is known.
class RestoredRun : public Bucket {
public:
    explicit RestoredRun(unsigned seed, Roots roots = Roots::None)
        : m_roots(roots)
        , m_training(2, seed)
    {
        anchor(1, m_training.states[1]);
    }

    const Words16& at(std::int64_t number) const { return m_states.at(number); }
    const Words16& now() const { return m_states.rbegin()->second; }
    /// The next state, one step of training behind the newest one.
    Words16 trained()
    {
        Words16 state = now();
        for (const auto& [at, word] : m_training.changeOf(state))
            state[at] = word;
        return state;
    }
    void train(std::int64_t last)
    {
        for (std::int64_t number = next(); number <= last; ++number)
            delta(number, trained());
    }
    void anchor(std::int64_t number, const Words16& state, Metadata facts = {})
    {
        putAnchor(number, state, -1, withRoot(state, std::move(facts), m_roots == Roots::All));
        m_states[number] = state;
    }
    void delta(std::int64_t number, const Words16& state, Metadata facts = {})
    {
        const bool isRoot = m_roots == Roots::All || (m_roots == Roots::RollBack && facts.contains(fact::Restores));
        putDelta(number, between(now(), state), -1, withRoot(state, std::move(facts), isRoot));
        m_states[number] = state;
    }
    /// A new version that says that it has the state of `step` again.
    void restore(std::int64_t step, const Words16& state)
    {
        delta(next(), state, { { std::string(fact::Restores), std::to_string(step) } });
    }
    void restore(std::int64_t step) { restore(step, at(step)); }
    std::int64_t next() const { return m_states.rbegin()->first + 1; }

private:
    static Metadata withRoot(const Words16& state, Metadata facts, bool isRoot)
    {
        if (isRoot)
            facts[std::string(fact::Root)] = rootOf(state);
        return facts;
    }

    Roots m_roots;
    Training m_training;
    std::map<std::int64_t, Words16> m_states;
};

/// The state with some elements moved far.
Words16 farMoved(Words16 state, std::size_t elements)
{
    for (std::size_t i = 0; i < elements; ++i)
        state[i * 7] ^= 0x1000;
    return state;
}

std::optional<std::int64_t> restoredAt(const EngineRun& run, std::int64_t number)
{
    const auto index = static_cast<std::size_t>(run.find(number) - run.versions.data());
    const std::optional<std::size_t> restored = restoredVersion(run, index);
    return restored ? std::optional(run.versions[*restored].step()) : std::nullopt;
}

std::vector<std::string> problemsOf(const EngineRun& run)
{
    std::vector<std::string> texts;
    for (const Error& problem : run.problems)
        texts.push_back(problem.text);
    for (const Version& version : run.versions) {
        for (const Error& problem : version.problems)
            texts.push_back(problem.text);
    }
    return texts;
}

std::size_t countOf(const EngineRun& run, std::int64_t number, Code code)
{
    return countNotes(step(run, number).problems, code);
}

class EachRoots : public testing::TestWithParam<Roots> { };
INSTANTIATE_TEST_SUITE_P(Restored, EachRoots, testing::Values(Roots::All, Roots::RollBack, Roots::None));

TEST_P(EachRoots, ARollBackIsAcceptedAndSilent)
{
    RestoredRun bucket(31, GetParam());
    bucket.train(8);
    bucket.restore(3);
    bucket.train(11);
    bucket.anchor(12, bucket.trained());
    bucket.train(13);
    bucket.restore(5); // in front of the last anchor
    bucket.train(15);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(problemsOf(run), std::vector<std::string>());
    EXPECT_EQ(restoredAt(run, 9), 3);
    EXPECT_EQ(restoredAt(run, 14), 5);
    EXPECT_EQ(restoredAt(run, 10), std::nullopt);
    EXPECT_TRUE(bucket.holds(run, 14, bucket.at(5)));
}

TEST_P(EachRoots, AClaimToRestoreAnotherStateIsReported)
{
    RestoredRun bucket(32, GetParam());
    bucket.train(8);
    bucket.restore(3, bucket.at(4));
    bucket.train(10);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(restoredAt(run, 9), std::nullopt);
    ASSERT_EQ(problemsOf(run).size(), 1U);
    EXPECT_EQ(countOf(run, 9, Code::Claim), 1U);
    EXPECT_EQ(problemsOf(run).front(), "step 9 says that it restores step 3, and its state is another one");
}

TEST_P(EachRoots, ALossInFrontAccusesNoRollBack)
{
    RestoredRun bucket(42, GetParam());
    bucket.train(14);
    bucket.restore(5);
    bucket.restore(14);
    bucket.remove(deltaKey(12));
    const EngineRun run = bucket.analyzed();
    EXPECT_TRUE(step(run, 16).obstacle || !step(run, 16).proven);
    for (const std::int64_t number : { 15, 16 })
        EXPECT_EQ(countOf(run, number, Code::Claim), 0U) << number;
}

TEST(Restored, AStepThatIsNoEarlierOneIsAContradiction)
{
    for (const std::int64_t named : { 5, 7, 9 }) {
        RestoredRun bucket(33);
        bucket.train(6);
        bucket.restore(named, bucket.at(4));
        bucket.train(9);
        bucket.remove(deltaKey(5)); // a hole
        const EngineRun run = *bucket.session.open(bucket.store);
        EXPECT_EQ(countOf(run, 7, Code::Claim), 1U) << named;
        EXPECT_EQ(restoredAt(run, 7), std::nullopt);
    }
}

TEST(Restored, AStepThatRetentionRemovedIsNone)
{
    RestoredRun bucket(34);
    bucket.train(5);
    bucket.anchor(6, bucket.trained());
    bucket.restore(3);
    for (const std::int64_t number : { 2, 3, 4, 5 })
        bucket.remove(deltaKey(number));
    bucket.remove(anchorKey(1));
    const EngineRun run = *bucket.session.open(bucket.store);
    EXPECT_EQ(countOf(run, 7, Code::Claim), 0U);
    EXPECT_EQ(restoredAt(run, 7), std::nullopt);
}

TEST(Restored, AValueThatIsNoNumberIsIgnored)
{
    for (const char* value : { "", "x", "3x", "-3", "99999999999999999999" }) {
        RestoredRun bucket(35);
        bucket.train(4);
        bucket.delta(5, bucket.trained(), { { std::string(fact::Restores), value } });
        const EngineRun run = *bucket.session.open(bucket.store);
        EXPECT_EQ(step(run, 5).summary->restores, std::nullopt) << value;
        EXPECT_EQ(problemsOf(run), std::vector<std::string>()) << value;
    }
}

// --- measures --------------------------------------------------------------------------------------------------------

/// Two roll backs, and behind them an anchor that is `elements` further than a step of training. `shift`: 0 if both are
/// what they say.
EngineRun runWithDrift(std::size_t elements, std::int64_t shift)
{
    RestoredRun bucket(36);
    bucket.train(9);
    bucket.restore(3 + shift, bucket.at(3));
    bucket.restore(9 - shift, bucket.at(9));
    bucket.train(12);
    Words16 anchor = bucket.trained();
    for (std::size_t i = 0; i < elements; ++i)
        anchor[i * 11] ^= 1;
    bucket.anchor(13, anchor);
    return bucket.analyzed();
}

TEST(Restored, ARollBackIsNoMeasureOfDrift)
{
    EXPECT_EQ(countOf(runWithDrift(200, 0), 13, Code::AnchorDrift), 1U);
    EXPECT_EQ(countOf(runWithDrift(0, 0), 13, Code::AnchorDrift), 0U);
    EXPECT_EQ(countOf(runWithDrift(200, 1), 13, Code::AnchorDrift), 0U); // as deltas of any other kind
}

TEST(Restored, AClaimHidesNoDrift)
{
    for (const char* named : { "3", "7", "20" }) {
        RestoredRun bucket(37);
        bucket.train(9);
        Words16 anchor = bucket.trained();
        for (std::size_t i = 0; i < 300; ++i)
            anchor[i * 11] ^= 1;
        bucket.anchor(10, anchor, { { std::string(fact::Restores), named } });
        const EngineRun run = bucket.analyzed();
        EXPECT_EQ(countOf(run, 10, Code::AnchorDrift), 1U) << named;
        EXPECT_EQ(countOf(run, 10, Code::Claim), 1U) << named;
    }
}

TEST(Restored, AnAnchorThatSaysWhatItRestoresIsNotReverted)
{
    for (const bool says : { true, false }) {
        RestoredRun bucket(38);
        bucket.train(9);
        bucket.anchor(10, bucket.at(3), says ? Metadata { { std::string(fact::Restores), "3" } } : Metadata());
        bucket.train(11);
        const EngineRun run = bucket.analyzed();
        EXPECT_EQ(countOf(run, 10, Code::Reverted), says ? 0U : 1U);
        EXPECT_EQ(countOf(run, 10, Code::AnchorDrift), says ? 0U : 1U);
        EXPECT_EQ(countOf(run, 9, Code::AnchorDrift), says ? 0U : 1U);
    }
}

TEST(Restored, AClaimHidesNoLoss)
{
    RestoredRun bucket(39);
    bucket.train(6);
    bucket.putDelta(7, between(bucket.at(5), bucket.at(6)), -1, { { std::string(fact::Restores), "3" } });
    const EngineRun run = bucket.analyzed();
    EXPECT_TRUE(step(run, 7).lossProven);
    EXPECT_EQ(countOf(run, 7, Code::Claim), 1U);
}

TEST(Restored, DriftSpeaksAgainstNothingThatWasTakenBack)
{
    const EngineRun run = runWithDrift(200, 0);
    Steps alarmed;
    for (const Version& version : run.versions) {
        if (version.driftAlarm)
            alarmed.push_back(version.step());
    }
    EXPECT_EQ(alarmed, (Steps { 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13 })); // 10 restored 3, and 11 the state of 9 again
}

TEST(Restored, AnAnchorVouchesForNothingThatWasTakenBack)
{
    RestoredRun bucket(44);
    bucket.train(7);
    bucket.restore(4);
    bucket.train(10);
    bucket.anchor(11, bucket.trained());
    EngineRun run = bucket.analyzed();
    const auto report = verifyRun(bucket.session.bench, run, { 4, {}, false }, bucket.session.task);
    ASSERT_TRUE(report);
    const layout_test::Words words = wordsOf(run, *report);
    for (const std::int64_t number : { 2, 3, 4, 8, 9, 10 })
        EXPECT_EQ(words.at(number), "consistent") << number;
    for (const std::int64_t number : { 5, 6, 7 })
        EXPECT_NE(words.at(number), "consistent") << number;
}

// --- suspect values --------------------------------------------------------------------------------------------------

/// Steps 5 and later have 40 elements that moved far. `anchor`: whether 7 is an anchor. 9 has the state of step 4 and
/// says that it restores `named`; 12 is an anchor.
EngineRun runWithSuspectValues(bool anchor, std::int64_t named)
{
    RestoredRun bucket(40);
    bucket.train(4);
    bucket.delta(5, farMoved(bucket.trained(), 40));
    bucket.train(6);
    if (anchor)
        bucket.anchor(7, bucket.trained());
    bucket.train(8);
    bucket.restore(named, bucket.at(named == 6 ? 6 : 4));
    bucket.train(11);
    bucket.anchor(12, bucket.trained());
    bucket.train(13);
    return bucket.analyzed();
}

TEST(Restored, ARollBackToASoundStateEndsTheSuspicion)
{
    for (const bool anchor : { false, true })
        EXPECT_EQ(suspectSteps(runWithSuspectValues(anchor, 4)), (Steps { 5, 6, 7, 8 })) << anchor;
}

TEST(Restored, ARollBackToASuspectStateKeepsIt)
{
    for (const bool anchor : { false, true }) {
        const Steps steps = suspectSteps(runWithSuspectValues(anchor, 6));
        for (const std::int64_t number : { 5, 6, 8, 9, 10, 11, 12, 13 })
            EXPECT_NE(std::find(steps.begin(), steps.end(), number), steps.end()) << number << ' ' << anchor;
    }
}

TEST(Restored, AClaimHidesNoSuspectValues)
{
    for (const std::int64_t named : { 3, 9 }) {
        const EngineRun run = runWithSuspectValues(false, named);
        EXPECT_EQ(countOf(run, 9, Code::SuspectValues), 1U) << named;
        EXPECT_EQ(countOf(run, 9, Code::Claim), 1U) << named;
    }
}

// --- what is kept, and epochs ----------------------------------------------------------------------------------------

TEST(Restored, WhatAReplayShowedIsKept)
{
    RestoredRun bucket(41);
    bucket.session.openCatalog();
    bucket.train(6);
    bucket.restore(3);
    bucket.train(8);
    bucket.restore(4, bucket.at(5));
    static_cast<void>(bucket.analyzed());
    const EngineRun run = *bucket.session.open(bucket.store);
    EXPECT_EQ(step(run, 7).facts->restores, true);
    EXPECT_EQ(step(run, 9).facts->restores, false);
    EXPECT_EQ(restoredAt(run, 7), 3);
    EXPECT_EQ(countOf(run, 9, Code::Claim), 1U);
}

TEST(Restored, WhoRollsARunBackBeginsNoEpoch)
{
    const auto named = [](const char* run) { return Metadata { { std::string(fact::Run), run } }; };
    RestoredRun bucket(42, Roots::All);
    bucket.train(1);
    for (std::int64_t number = 2; number <= 5; ++number)
        bucket.delta(number, bucket.trained(), named("a"));
    Metadata facts = named("b");
    facts[std::string(fact::Restores)] = "3";
    bucket.delta(6, bucket.at(3), facts);
    bucket.anchor(7, bucket.trained(), named("a"));
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_EQ(problemsOf(run), std::vector<std::string>());
}

TEST(Restored, TimesThatWereCopiedMakeNoRestartOfARollBack)
{
    for (const Roots roots : { Roots::RollBack, Roots::None }) {
        RestoredRun bucket(43, roots);
        bucket.train(6);
        bucket.restore(3);
        bucket.train(9);
        for (std::int64_t number = 7; number <= 9; ++number) // older than all in front
            EXPECT_TRUE(bucket.store->setModified(deltaKey(number), number * 1'000'000));
        const EngineRun run = bucket.analyzed();
        EXPECT_EQ(run.epochs(), 1);
        EXPECT_EQ(restoredAt(run, 7), 3);
    }
}

} // namespace
} // namespace deltascope
