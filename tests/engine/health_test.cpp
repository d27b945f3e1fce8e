#include "deltascope/engine/operations.h"

#include "format/trl/trl_dialect.h"
#include "format/trl/trl_layout.h"
#include "golden_copy.h"
#include "run_steps.h"
#include "tiny_run.h"

// What an analysis finds in values, where it stands, and how far it reaches.

namespace deltascope {
namespace {

using namespace layout_test;

const Bits All { 0, 1, 2, 3, 4, 5, 6, 7 };
const Bits Zeros(8, 0);

/// A NaN at step 3, in anchors at 5 and 8 where they hold it, too.
TinyRun withNan(bool atFive, bool atEight)
{
    const auto state = [](bool holds) { return holds ? Bits { Nan, 1, 2, 3, 4, 5, 6, 7 } : All; };
    TinyRun run;
    run.anchor(1, All).delta(2, { 1 }, { 2 }).delta(3, { 0 }, { Nan }).delta(4, { 1 }, { 1 });
    run.anchor(5, state(atFive)).delta(6, { 1 }, { 2 }).delta(7, { 1 }, { 1 });
    run.anchor(8, state(atEight)).delta(9, { 1 }, { 2 });
    return run;
}

TEST(Health, EndsAtTheFirstAnchorThatIsFreeOfIt)
{
    Session session;
    EXPECT_EQ(suspectSteps(session.analyzed(withNan(false, false).store)), (Steps { 3, 4 }));
    EXPECT_EQ(suspectSteps(session.analyzed(withNan(true, false).store)), (Steps { 3, 4, 5, 6, 7 }));
    EXPECT_EQ(suspectSteps(session.analyzed(withNan(true, true).store)), (Steps { 3, 4, 5, 6, 7, 8, 9 }));
    EXPECT_EQ(suspectSteps(session.analyzed(TinyRun::sound().store)), Steps());
}

TEST(Health, IsRememberedWithItsFigures)
{
    Session session;
    session.openCatalog();
    const TinyRun tiny = withNan(true, false);
    session.analyzed(tiny.store);
    const auto again = session.open(tiny.store);
    ASSERT_TRUE(again);
    EXPECT_EQ(suspectSteps(*again), (std::vector<std::int64_t> { 3, 4, 5, 6, 7 }));
    EXPECT_EQ(again->find(3)->facts->suspectTensors,
              (std::vector<SuspectTensor> { { "w", Suspicion::NotFinite, 1, 0 } }));
}

TEST(Health, IsCarriedOnFromAnAnchorThatWasAnalyzedBefore)
{
    Session session;
    session.openCatalog();
    TinyRun tiny = withNan(true, true);
    session.analyzed(tiny.store);
    tiny.delta(10, { 1 }, { 1 }).anchor(11, { Nan, 1, 2, 3, 4, 5, 6, 7 });
    EXPECT_EQ(suspectSteps(session.analyzed(tiny.store)), (std::vector<std::int64_t> { 3, 4, 5, 6, 7, 8, 9, 10, 11 }));
}

std::string suspicionAt(const Run& run, std::int64_t number)
{
    const Version& version = *run.find(number);
    for (const Error& problem : version.problems) {
        if (problem.code == Code::SuspectValues)
            return problem.text;
    }
    return {};
}

/// The figure is of the state, not of what a step changes in it, and an anchor says it once.
TEST(Health, NamesHowManyElementsOfAStateAreNan)
{
    TinyRun tiny;
    tiny.anchor(1, All).delta(2, { 0, 1, 2 }, { Nan, Nan, Nan }).delta(3, { 3, 4 }, { Nan, Nan });
    tiny.delta(4, { 1, 2, 3 }, { 1, 2, 3 }).anchor(5, { Nan, 1, 2, 3, 4, 5, 6, 7 });
    Session session;
    const auto opened = session.analyzed(tiny.store);
    EXPECT_EQ(suspicionAt(opened, 2), "values of step 2 are suspect: 3 elements of w are NaN or infinite");
    EXPECT_EQ(suspicionAt(opened, 3), "values of step 3 are suspect: 5 elements of w are NaN or infinite");
    EXPECT_NE(suspicionAt(opened, 4).find("builds on step 3"), std::string::npos);
    EXPECT_EQ(suspicionAt(opened, 5), "values of step 5 are suspect: 1 element of w is NaN or infinite");
}

TEST(Health, SeesZerosAndOneValue)
{
    Session session;
    TinyRun run;
    run.anchor(1, { 0x3f80, 0x3f00, 0x4000, 0x3f80, 0x3f00, 0x4000, 0x3f80, 0x3f00 }).delta(2, All, Zeros);
    auto opened = session.analyzed(run.store);
    EXPECT_EQ(opened.find(2)->facts->suspectTensors.at(0).suspicion, Suspicion::Zero);
    TinyRun other;
    other.anchor(1, { 0x3f80, 0x3f00, 0x4000, 0x3f80, 0x3f00, 0x4000, 0x3f80, 0x3f00 })
        .delta(2, { 1, 2, 4, 5, 7 }, Bits(5, 0x3f80));
    opened = session.analyzed(other.store);
    EXPECT_EQ(opened.find(2)->facts->suspectTensors.at(0).suspicion, Suspicion::Constant);
    EXPECT_FALSE(opened.find(1)->suspect);
}

/// Deltas that leave a tensor as it is count from one anchor to the next.
TEST(Health, AnAnchorThatMovesATensorThatNoDeltaChangesIsSuspect)
{
    const Bits ones(8, 0x3f80);
    const Bits twos(8, 0x4000);
    const auto anchorBehind = [&](int deltas) {
        Session session;
        TinyRun run;
        run.anchor(1, ones);
        for (int i = 0; i < deltas; ++i)
            run.delta(2 + i, {}, {});
        run.anchor(5, ones).delta(6, {}, {}).anchor(7, twos);
        return suspectSteps(session.analyzed(run.store));
    };
    EXPECT_EQ(anchorBehind(0), std::vector<std::int64_t>()) << "one delta is no measure";
    EXPECT_EQ(anchorBehind(1), (std::vector<std::int64_t> { 7 }));
    EXPECT_EQ(anchorBehind(2), (std::vector<std::int64_t> { 7 }));
}

TEST(Health, PositionsThatWrapAreSuspect)
{
    Session session;
    TrlDialect narrow = TrlV2;
    EXPECT_EQ(narrow.countableElements, std::uint64_t { 1 } << 31);
    narrow.countableElements = 7;
    session.bench.layouts = {};
    session.bench.layouts.add(std::make_shared<TrlLayout>(narrow));
    TinyRun run;
    run.anchor(1, All).anchor(2, All).delta(3, { 0 }, { 9 }).anchor(4, All).anchor(5, All);
    const auto opened = session.analyzed(run.store);
    EXPECT_EQ(suspectSteps(opened), (std::vector<std::int64_t> { 3 })); // full versions have no positions
    EXPECT_EQ(opened.find(3)->facts->suspectTensors, (std::vector<SuspectTensor> { { "w", Suspicion::Wrap, 8, 7 } }));

    narrow.countableElements = 8;
    EXPECT_EQ(suspectSteps(session.analyzed(run.store)), std::vector<std::int64_t>());
}

} // namespace
} // namespace deltascope
