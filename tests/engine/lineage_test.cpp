#include "deltascope/engine/lineage.h"

#include "lineage/base_first.h"
#include "run_steps.h"
#include "support/memory_store.h"
#include "support/times.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

// Kinds, links, gaps and obstacles from names, headers and facts alone: no object is ever read here.

namespace deltascope {
namespace {

using layout_test::obstructed;
using layout_test::step;
using layout_test::Steps;
using test::Begin;
using test::LongAfter;
using test::Second;

struct LayoutTraits {
    bool standAlone = false;
    bool needsExternalBase = false;
};

/// A layout that only says what kind of layout it is.
class NamedLayout final : public Layout {
public:
    explicit NamedLayout(LayoutTraits traits)
        : m_traits(traits)
    {
    }
    std::string_view word() const noexcept override { return "test"; }
    Result<bool> recognizes(const ObjectStore&, const std::vector<ObjectInfo>&, TaskContext&) const override
    {
        return true;
    }
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>&) const override { return {}; }
    Result<VersionIndex> index(const ObjectStore&, const VersionObjects&, TaskContext&) const override
    {
        return fail(Code::Internal, "lineage must not read");
    }
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore&, const VersionObjects&, const VersionIndex&,
                                              const TensorEntry&, const TensorInfo&,
                                              const StreamOptions&) const override
    {
        return fail(Code::Internal, "lineage must not read");
    }
    bool standAlone() const noexcept override { return m_traits.standAlone; }
    bool needsExternalBase() const noexcept override { return m_traits.needsExternalBase; }
    bool anchorsMayBePartial() const noexcept override { return !m_traits.standAlone && !m_traits.needsExternalBase; }
    bool mayCompareLowBytes() const noexcept override { return true; }

private:
    LayoutTraits m_traits;
};

/// Versions of a run as a reader of headers reports them.
class RunOf {
public:
    explicit RunOf(LayoutTraits traits = {})
        : m_layout(std::make_shared<NamedLayout>(traits))
    {
    }

    RunOf& anchor(std::int64_t step, std::uint32_t tensors = 4)
    {
        VersionSummary summary;
        summary.full = true;
        summary.tensors = tensors;
        summary.storedElements = tensors * 100ULL;
        summary.countsKnown = true;
        return add(step, summary);
    }
    RunOf& delta(std::int64_t step, std::uint32_t tensors = 2) { return add(step, deltaSummary(tensors)); }
    RunOf& deltas(std::int64_t first, std::int64_t last)
    {
        for (std::int64_t step = first; step <= last; ++step)
            delta(step);
        return *this;
    }
    /// A delta that says what it builds on and has digests.
    RunOf& deltaOn(std::int64_t step, std::int64_t base, std::uint32_t tensors = 2)
    {
        VersionSummary summary = deltaSummary(tensors);
        summary.declaredBase = base;
        summary.digests = DigestAlgorithm::Xxh3_128;
        return add(step, summary);
    }
    RunOf& unreadable(std::int64_t step, Code code)
    {
        m_versions.push_back(IndexedObjects { objects(step), {}, Error { code, "the header is bad", {}, {}, {} }, {} });
        return *this;
    }
    /// Another form of the version added last, which lacks something.
    RunOf& unreadableForm()
    {
        IndexedObjects& version = m_versions.back();
        version.objects.otherForms.push_back(objects(version.objects.step));
        version.otherForms.emplace_back().failure = Error { Code::Unfinished, "it lacks a file", {}, {}, {} };
        return *this;
    }
    /// Of the version added last.
    RunOf& at(std::int64_t us)
    {
        m_versions.back().objects.objects[0].modifiedUs = us;
        return *this;
    }
    RunOf& seenAt(std::int64_t us)
    {
        m_versions.back().seenUs = us;
        return *this;
    }
    RunOf& halfWritten()
    {
        m_versions.back().objects.objects[0].hasUnwrittenPart = true;
        return *this;
    }
    RunOf& withBase()
    {
        ExternalBase base;
        base.store = std::make_shared<test::MemoryStore>();
        base.layout = m_layout;
        base.objects = objects(0);
        base.summary.storedElements = 400;
        m_base = base;
        return *this;
    }

    Run build(std::int64_t nowUs = LongAfter) const
    {
        return buildLineage(std::make_shared<test::MemoryStore>(), m_layout, m_base, m_versions, nowUs);
    }

private:
    static VersionSummary deltaSummary(std::uint32_t tensors)
    {
        VersionSummary summary;
        summary.encoding = "raw";
        summary.tensors = tensors;
        summary.storedElements = 10;
        summary.countsKnown = true;
        return summary;
    }
    static VersionObjects objects(std::int64_t step)
    {
        VersionObjects version;
        version.step = step;
        version.name = fmt::format("step_{}", step);
        version.objects = { ObjectInfo {
            version.name, 100, fmt::format("id{}", step), Begin + step * Second, false, {} } };
        return version;
    }
    RunOf& add(std::int64_t step, VersionSummary summary)
    {
        m_versions.push_back(IndexedObjects { objects(step), std::move(summary), {}, {} });
        return *this;
    }

    std::shared_ptr<const Layout> m_layout;
    std::optional<ExternalBase> m_base;
    std::vector<IndexedObjects> m_versions;
};

Version& step(Run& run, std::int64_t number)
{
    return const_cast<Version&>(step(static_cast<const Run&>(run), number));
}

VersionFacts factsOf(std::uint64_t assigned, std::uint64_t noops = 0)
{
    VersionFacts facts;
    facts.assigned = assigned;
    facts.noops = noops;
    facts.changedElements = assigned - noops;
    return facts;
}

Steps stepsOf(const Run& run, const Plan& plan)
{
    std::vector<std::int64_t> steps;
    for (const PlanLink& link : plan.links)
        steps.push_back(run.versions[link.version].step());
    return steps;
}

std::size_t count(const std::vector<Error>& problems, Code code)
{
    return static_cast<std::size_t>(
        std::count_if(problems.begin(), problems.end(), [&](const Error& problem) { return problem.code == code; }));
}

const Error& problem(const std::vector<Error>& problems, Code code)
{
    static const Error None;
    const auto at =
        std::find_if(problems.begin(), problems.end(), [&](const Error& error) { return error.code == code; });
    EXPECT_NE(at, problems.end()) << "no " << word(code);
    return at == problems.end() ? None : *at;
}

// --- kinds and bases -------------------------------------------------------------------------------------------------

TEST(LineageKinds, AFullVersionIsAnAnchorWithoutBase)
{
    const auto run = RunOf().anchor(1).delta(2).build();
    EXPECT_EQ(step(run, 1).kind, VersionKind::Anchor);
    EXPECT_FALSE(step(run, 1).baseStep);
    EXPECT_FALSE(step(run, 1).base);
}

TEST(LineageKinds, ADeltaBuildsOnTheVersionBefore)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).build();
    EXPECT_EQ(step(run, 3).kind, VersionKind::Delta);
    EXPECT_EQ(step(run, 3).baseStep, 2);
    EXPECT_EQ(step(run, 3).base, 1U);
    EXPECT_FALSE(step(run, 3).acrossGap);
}

TEST(LineageKinds, AnAnchorWithFewerTensorsThanTheFirstIsPartial)
{
    const auto run = RunOf().anchor(1, 13).deltas(2, 9).anchor(10, 8).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::PartialAnchor);
    EXPECT_EQ(step(run, 10).baseStep, 9);
}

TEST(LineageKinds, TheProblemOfAPartialAnchorSaysHowManyTensorsItHolds)
{
    const auto run = RunOf().anchor(1, 13).deltas(2, 9).anchor(10, 8).build();
    const Error& partial = problem(step(run, 10).problems, Code::PartialAnchor);
    EXPECT_NE(partial.text.find("8 of 13"), std::string::npos) << partial.text;
    EXPECT_EQ(partial.step, 10);
}

TEST(LineageKinds, WithoutTheFirstAnchorTheLargestOneIsTheMeasure)
{
    const auto run = RunOf().anchor(10, 8).deltas(11, 19).anchor(20, 13).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::PartialAnchor);
    EXPECT_EQ(step(run, 20).kind, VersionKind::Anchor);
}

TEST(LineageKinds, APartialAnchorWithoutAStateBeforeCannotBeRebuilt)
{
    const auto run = RunOf().anchor(10, 8).delta(11).anchor(12, 13).build();
    EXPECT_EQ(obstructed(run), Steps({ 10, 11 }));
    EXPECT_EQ(step(run, 10).obstacle->code, Code::ChainGap);
}

TEST(LineageKinds, APlainCheckpointOfAnySizeStandsAlone)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0, 13).anchor(10, 8).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::Anchor);
    EXPECT_TRUE(obstructed(run).empty());
}

TEST(LineageKinds, NumbersBetweenPlainCheckpointsAreNoGaps)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0).anchor(10).anchor(30).build();
    EXPECT_TRUE(run.gaps.empty());
}

TEST(LineageKinds, PlainCheckpointsInAnyOrderOfTimeAreOneEpoch)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0).at(Begin + 900 * Second).anchor(10).at(Begin).build();
    EXPECT_EQ(run.epochs(), 1);
}

TEST(LineageKinds, TheModelHasTheElementsOfItsFirstAnchor)
{
    const auto run = RunOf().anchor(1, 13).delta(2).anchor(3, 8).build();
    EXPECT_EQ(run.totalElementsOf(step(run, 2)), 1300U);
    EXPECT_EQ(run.totalElementsOf(step(run, 3)), 1300U);
}

TEST(LineageKinds, ADeltaWithoutTensorsIsANoop)
{
    const auto run = RunOf().anchor(1).delta(2, 0).build();
    EXPECT_EQ(step(run, 2).state, VersionState::Noop);
    EXPECT_FALSE(step(run, 2).obstacle);
}

TEST(LineageKinds, ARunWithoutVersionsIsEmpty)
{
    const auto run = RunOf().build();
    EXPECT_EQ(run.latest(), nullptr);
    EXPECT_EQ(run.find(1), nullptr);
    EXPECT_EQ(run.epochs(), 1);
}

// --- gaps ------------------------------------------------------------------------------------------------------------

TEST(LineageGaps, AMissingNumberIsAGap)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_EQ(run.gaps[0].first, 5);
    EXPECT_EQ(run.gaps[0].last, 5);
}

TEST(LineageGaps, SeveralMissingNumbersAreOneGap)
{
    const auto run = RunOf().anchor(1).delta(2).delta(9).build();
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_EQ(run.gaps[0].first, 3);
    EXPECT_EQ(run.gaps[0].last, 8);
}

TEST(LineageGaps, StepsBehindAGapAreUnprovenAndRestorable)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 4).proven);
    EXPECT_FALSE(step(run, 6).proven);
    EXPECT_FALSE(step(run, 7).proven);
    EXPECT_EQ(count(step(run, 7).problems, Code::Unproven), 1U);
}

TEST(LineageGaps, TheNextCompleteAnchorIsProvenAgain)
{
    const auto run = RunOf().anchor(1).delta(2).delta(4).anchor(5).delta(6).build();
    EXPECT_FALSE(step(run, 4).proven);
    EXPECT_TRUE(step(run, 5).proven);
    EXPECT_TRUE(step(run, 6).proven);
}

TEST(LineageGaps, APartialAnchorHealsNothing)
{
    const auto run = RunOf().anchor(1, 13).delta(2).delta(4).anchor(5, 8).delta(6).build();
    EXPECT_FALSE(step(run, 5).proven);
    EXPECT_FALSE(step(run, 6).proven);
}

TEST(LineageGaps, TheProblemNamesTheStepsThatDependOnTheGap)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 9).anchor(10).build();
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_EQ(gap.step, 5);
    EXPECT_NE(gap.text.find("steps 6-9"), std::string::npos) << gap.text;
    EXPECT_NE(gap.text.find("anchor at step 10"), std::string::npos) << gap.text;
}

TEST(LineageGaps, AGapRightBeforeAnAnchorConcernsNobody)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(5).build();
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_NE(gap.text.find("nothing else is affected"), std::string::npos) << gap.text;
    EXPECT_TRUE(step(run, 5).proven);
}

TEST(LineageGaps, ALostDeltaIsCalledLost)
{
    auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    for (const std::int64_t number : { 2, 3, 4, 7 })
        step(run, number).facts = factsOf(100);
    step(run, 6).facts = factsOf(100, 30);
    assess(run);
    EXPECT_NE(problem(run.problems, Code::ChainGap).text.find("is lost"), std::string::npos);
}

TEST(LineageGaps, AnUnfinishedStepBehindAGapDoesNotProveALoss)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).delta(6).unreadable(7, Code::Truncated).build(Begin + 8 * Second);
    ASSERT_EQ(obstructed(run), Steps({ 7 }));
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_EQ(gap.text.find("is lost"), std::string::npos) << gap.text;
}

TEST(LineageGaps, ALaterBrokenStepBehindAGapDoesNotProveALoss)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).delta(6).unreadable(7, Code::Hostile).build();
    EXPECT_EQ(problem(run.problems, Code::ChainGap).text.find("is lost"), std::string::npos);
}

// --- declared bases --------------------------------------------------------------------------------------------------

TEST(LineageDeclaredBase, AMissingDeclaredBaseIsAnObstacleThatNamesIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).deltaOn(4, 3).build();
    EXPECT_EQ(obstructed(run), Steps({ 4 }));
    EXPECT_EQ(step(run, 4).obstacle->code, Code::ChainGap);
    EXPECT_NE(step(run, 4).obstacle->text.find("step 3"), std::string::npos);
    EXPECT_EQ(step(run, 4).baseStep, 3);
}

TEST(LineageDeclaredBase, ABaseAcrossAMissingNumberIsNoGapInTheChain)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(3, 1).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 3).proven);
    EXPECT_EQ(step(run, 3).base, 0U);
}

TEST(LineageDeclaredBase, AnEarlierVersionThatIsThereIsNotCalledMissing)
{
    const auto run = RunOf({ .needsExternalBase = true })
                         .withBase()
                         .deltaOn(1, 0)
                         .deltaOn(2, 1)
                         .deltaOn(3, 1) // a branch: written against step 1, not step 2
                         .build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(step(run, 3).base, 0U);
    const auto plan = planFor(run, step(run, 3));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 3 }));
}

TEST(LineagePartialAnchor, WithoutTheFirstFullVersionNothingProvesThatAnAnchorIsWhole)
{
    const auto speaks = [](const deltascope::Run& run) {
        return std::count_if(run.problems.begin(), run.problems.end(),
                             [](const Error& problem) { return problem.code == Code::PartialAnchor; });
    };
    const auto pruned = RunOf().anchor(11, 3).delta(12).anchor(21, 4).build();
    ASSERT_EQ(speaks(pruned), 1);
    EXPECT_NE(pruned.problems.front().text.find("step 21 with its 4 tensors"), std::string::npos)
        << pruned.problems.front().text;
    EXPECT_EQ(speaks(RunOf().anchor(1).delta(2).anchor(11).build()), 0);
    EXPECT_EQ(speaks(RunOf({ .standAlone = true }).anchor(10).anchor(20).build()), 0);
    EXPECT_EQ(speaks(RunOf({ .needsExternalBase = true }).withBase().anchor(4).build()), 0);
}

TEST(LineageExternalBase, WithoutItEveryStepNamesTheMissingBase)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).deltaOn(2, 1).deltaOn(3, 2).build();
    EXPECT_EQ(obstructed(run), Steps({ 1, 2, 3 }));
    for (const Version& version : run.versions)
        EXPECT_EQ(version.obstacle->code, Code::BaseMissing);
    EXPECT_EQ(step(run, 3).obstacleAt, 0U);
}

TEST(LineageExternalBase, AFullVersionFreesTheStepsBehindIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).anchor(2).deltaOn(3, 2).build();
    EXPECT_EQ(obstructed(run), Steps({ 1 }));
}

TEST(LineageExternalBase, WithItTheFirstDeltaStandsOnIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 1).onExternalBase);
    EXPECT_FALSE(step(run, 2).onExternalBase);
    EXPECT_EQ(run.totalElementsOf(step(run, 2)), 400U);
}

TEST(LineageExternalBase, IsNotWhatALaterRunHasWrittenOver)
{
    for (const bool declares : { true, false }) {
        RunOf versions({ .needsExternalBase = true });
        versions.withBase();
        for (std::int64_t number = 1; number <= 5; ++number) {
            declares ? versions.deltaOn(number, number - 1) : versions.delta(number);
            versions.at((number <= 3 ? LongAfter : Begin) + number * Second);
        }
        const auto run = versions.build(LongAfter + 1000 * Second);
        ASSERT_EQ(run.epochs(), 2);
        EXPECT_TRUE(step(run, 1).onExternalBase);
        EXPECT_FALSE(step(run, 4).onExternalBase);
        EXPECT_EQ(obstructed(run), Steps({ 4, 5 }));
    }
}

TEST(LineageExternalBase, IsNoStartOfAChainWhereTheLayoutBringsItsOwn)
{
    const auto run = RunOf().withBase().delta(5).delta(6).anchor(7).delta(8).build();
    EXPECT_EQ(obstructed(run), Steps({ 5, 6 }));
    EXPECT_EQ(step(run, 5).obstacle->code, Code::ChainGap);
    EXPECT_FALSE(step(run, 5).onExternalBase);
}

TEST(LineageExternalBase, DigestsThatMostlyFailOnItSpeakAgainstIt)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 9;
    facts.firstFailedTensor = "a";
    step(run, 1).facts = facts;
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 1, 2 }));
    EXPECT_EQ(step(run, 1).obstacle->code, Code::BaseMismatch);
    EXPECT_EQ(step(run, 2).obstacle->code, Code::BaseMismatch);
}

TEST(LineageNotes, AnUnfinishedStepThatIsNoVersionIsAProblemOfTheRun)
{
    auto run = RunOf({ .standAlone = true }).anchor(1).anchor(2).build();
    step(run, 2).objects.notes = { Error { Code::Unfinished, "cut short", "step-3", 3, {} },
                                   Error { Code::Unfinished, "cut short", "step_2", 2, {} } };
    assess(run);
    ASSERT_EQ(layout_test::countNotes(run.problems, Code::Unfinished), 1U);
    EXPECT_EQ(run.problems[0].step, 3);
    ASSERT_EQ(layout_test::countNotes(step(run, 2).problems, Code::Unfinished), 1U);
    EXPECT_EQ(step(run, 2).problems[0].where, "step_2");
}

TEST(LineageForms, AnUnreadableFormOfACheckpointIsNoDelta)
{
    auto run = RunOf({ .standAlone = true }).anchor(1).unreadableForm().build();
    EXPECT_EQ(step(run, 1).kindOf(1), VersionKind::Anchor);
    EXPECT_EQ(step(run, 1).otherForms[0].obstacle->code, Code::Unfinished);
    run = RunOf().anchor(1).delta(2).unreadableForm().build();
    EXPECT_EQ(step(run, 2).kindOf(1), VersionKind::Delta) << "of other layouts nothing tells";
}

VersionFacts oneFailedDigestOfNine()
{
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 1;
    facts.firstFailedTensor = "model.w";
    facts.expectedDigest = "aa";
    facts.actualDigest = "bb";
    return facts;
}

TEST(LineageExternalBase, OneFailingDigestOfManySpeaksAgainstBaseAndDelta)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    step(run, 1).facts = oneFailedDigestOfNine();
    assess(run);
    const Error& obstacle = *step(run, 1).obstacle;
    EXPECT_EQ(obstacle.code, Code::Digest);
    for (const char* part : { "model.w", "aa", "bb", "the base checkpoint, the delta or the record is wrong" })
        EXPECT_NE(obstacle.text.find(part), std::string::npos) << obstacle.text;
    EXPECT_EQ(obstacle.remedyText(), BaseFirst);
    EXPECT_EQ(step(run, 1).state, VersionState::Broken);

    step(run, 1).facts = VersionFacts();
    step(run, 2).facts = oneFailedDigestOfNine();
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 2 }));
    EXPECT_EQ(step(run, 2).obstacle->remedyText(), BaseFirst) << "a tensor that step 1 left alone is that of the base";
}

TEST(LineageExternalBase, IsNotSuspectedBehindAnAnchor)
{
    auto run = RunOf().anchor(1).delta(2).build();
    step(run, 2).facts = oneFailedDigestOfNine();
    assess(run);
    const Error& obstacle = *step(run, 2).obstacle;
    EXPECT_EQ(obstacle.text.find("base checkpoint"), std::string::npos) << obstacle.text;
    EXPECT_EQ(obstacle.remedyText(), remedy(Code::Digest));
}

TEST(LineageExternalBase, FailingDigestsBehindABrokenStepSayNothingNew)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 1;
    facts.firstFailedTensor = "model.w";
    step(run, 1).facts = facts;
    step(run, 2).facts = facts;
    assess(run);
    EXPECT_EQ(step(run, 2).obstacleAt, 0U);
    EXPECT_NE(step(run, 2).state, VersionState::Broken);
}

// --- unfinished and broken -------------------------------------------------------------------------------------------

TEST(LineagePublishing, ATruncatedNewestObjectIsBeingPublished)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).build(Begin + 5 * Second);
    EXPECT_EQ(step(run, 3).state, VersionState::Publishing);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Publishing);
}

TEST(LineagePublishing, TheSameObjectIsBrokenWhenItRested)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).build();
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Truncated);
    EXPECT_EQ(step(run, 3).obstacle->step, 3);
    EXPECT_EQ(step(run, 3).obstacle->where, "step_3");
}

TEST(LineagePublishing, AMinuteIsTheLeastThatAnObjectMayRest)
{
    const RunOf versions = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated); // one second apart
    const std::int64_t published = Begin + 3 * Second;
    EXPECT_EQ(step(versions.build(published + 59 * Second), 3).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(published + 60 * Second), 3).state, VersionState::Broken);
}

TEST(LineagePublishing, SlowRunsMayRestTenIntervals)
{
    const RunOf versions = RunOf()
                               .anchor(1)
                               .at(Begin)
                               .delta(2)
                               .at(Begin + 100 * Second)
                               .delta(3)
                               .at(Begin + 200 * Second)
                               .unreadable(4, Code::Unfinished)
                               .at(Begin + 300 * Second);
    EXPECT_EQ(step(versions.build(Begin + 300 * Second + 999 * Second), 4).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(Begin + 300 * Second + 1000 * Second), 4).state, VersionState::Broken);
}

TEST(LineagePublishing, AnHourIsTheMost)
{
    const RunOf versions = RunOf()
                               .anchor(1)
                               .at(Begin)
                               .delta(2)
                               .at(Begin + 5000 * Second)
                               .unreadable(3, Code::Truncated)
                               .at(Begin + 10'000 * Second);
    EXPECT_EQ(step(versions.build(Begin + 13'599 * Second), 3).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(Begin + 13'600 * Second), 3).state, VersionState::Broken);
}

TEST(LineagePublishing, AHostileHeaderIsBrokenHoweverYoung)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Hostile).build(Begin + 3 * Second);
    EXPECT_EQ(step(run, 2).state, VersionState::Broken);
}

TEST(LineagePublishing, APreallocatedObjectIsBeingPublished)
{
    const auto run = RunOf().anchor(1).delta(2).halfWritten().build(Begin + 3 * Second);
    EXPECT_EQ(step(run, 2).state, VersionState::Publishing);
    EXPECT_EQ(obstructed(run), Steps({ 2 }));
}

TEST(LineagePublishing, AnOldObjectWithAHoleIsUsed)
{
    EXPECT_TRUE(obstructed(RunOf().anchor(1).delta(2).halfWritten().build()).empty());
}

TEST(LineagePublishing, StepsOnAnUnfinishedOneNameIt)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).deltas(3, 4).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4 }));
    EXPECT_EQ(step(run, 4).obstacleAt, 1U);
    EXPECT_NE(step(run, 4).obstacle->text.find("step 4 builds on step 2"), std::string::npos)
        << step(run, 4).obstacle->text;
}

TEST(LineagePublishing, WhatALaterDeltaBuildsOnIsNotWrittenAnyMore)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).delta(4).build(Begin + 5 * Second);
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    const auto anchor = RunOf().unreadable(1, Code::Truncated).anchor(2).anchor(3).build(Begin + 5 * Second);
    EXPECT_EQ(step(anchor, 1).state, VersionState::Publishing);
}

TEST(LineagePublishing, ATimeThatIsStillToComeCountsAsOurFirstSight)
{
    for (const std::int64_t published : { Begin + 600 * Second, LongAfter }) {
        const auto seen = [published](std::int64_t seenUs, std::int64_t nowUs) {
            const RunOf run = RunOf().anchor(1).unreadable(2, Code::Truncated).at(published).seenAt(seenUs);
            return step(run.build(nowUs), 2).state;
        };
        EXPECT_EQ(seen(0, Begin), VersionState::Publishing) << "nothing is remembered";
        EXPECT_EQ(seen(Begin, Begin + 30 * Second), VersionState::Publishing);
        EXPECT_EQ(seen(Begin, Begin + 599 * Second), VersionState::Publishing);
        EXPECT_EQ(seen(Begin - 3600 * Second, Begin), VersionState::Broken);
    }
}

TEST(LineageObstacles, EndAtTheNextCompleteAnchor)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).deltas(3, 9).anchor(10).delta(11).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4, 5, 6, 7, 8, 9 }));
}

TEST(LineageObstacles, GoThroughAPartialAnchor)
{
    const auto run = RunOf().anchor(1, 13).unreadable(2, Code::Truncated).anchor(3, 8).delta(4).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4 }));
}

TEST(LineageObstacles, ABrokenAnchorBreaksWhatStandsOnItOnly)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Hostile).delta(4).anchor(5).delta(6).build();
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
}

TEST(LineageObstacles, DamageThatAReplayFoundIsOne)
{
    auto run = RunOf().anchor(1).deltas(2, 4).build();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "position 900 of 8", "step_3", 3, {} };
    step(run, 3).facts = facts;
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Hostile);
}

TEST(LineageObstacles, WhatThisBuildCannotReadIsNotCalledBroken)
{
    auto run = RunOf().anchor(1).deltas(2, 3).build();
    VersionFacts facts;
    facts.damage = Error { Code::Unsupported, "nvcomp", "step_2", 2, {} };
    step(run, 2).facts = facts;
    assess(run);
    EXPECT_EQ(step(run, 2).state, VersionState::Complete);
    EXPECT_EQ(obstructed(run), Steps({ 2, 3 }));
}

TEST(LineageObstacles, VanishWhenTheFactsDo)
{
    auto run = RunOf().anchor(1).deltas(2, 3).build();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "bad", "step_2", 2, {} };
    step(run, 2).facts = facts;
    assess(run);
    ASSERT_EQ(obstructed(run), Steps({ 2, 3 }));
    step(run, 2).facts.reset();
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(step(run, 2).state, VersionState::Complete);
}

TEST(LineageObstacles, AssessingTwiceSaysNothingTwice)
{
    auto run = RunOf().anchor(1, 13).deltas(2, 4).delta(6).anchor(7, 8).build();
    step(run, 6).facts = factsOf(100, 5);
    assess(run);
    const std::size_t problems = run.problems.size();
    const std::vector<Error> ofStep = step(run, 7).problems;
    assess(run);
    EXPECT_EQ(run.problems.size(), problems);
    EXPECT_EQ(step(run, 7).problems, ofStep);
}

TEST(LineageObstacles, RandomChainsBreakExactlyWhatBuildsOnTheBreak)
{
    std::uint64_t state = 7;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    };
    for (int round = 0; round < 200; ++round) {
        RunOf versions;
        Steps expected;
        bool broken = false;
        for (std::int64_t number = 1; number <= 40; ++number) {
            const std::uint64_t what = random(12);
            if (number == 1 || what == 0) {
                versions.anchor(number);
                broken = false;
            } else if (what == 1) {
                versions.unreadable(number, Code::Hostile);
                broken = true;
            } else {
                versions.delta(number);
            }
            if (broken)
                expected.push_back(number);
        }
        EXPECT_EQ(obstructed(versions.build()), expected) << round;
    }
}

// --- the no-op proof -------------------------------------------------------------------------------------------------

Run judged(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& deltas)
{
    auto run = RunOf().anchor(1).deltas(2, 1 + static_cast<std::int64_t>(deltas.size())).build();
    for (std::size_t i = 0; i < deltas.size(); ++i)
        run.versions[i + 1].facts = factsOf(deltas[i].first, deltas[i].second);
    assess(run);
    return run;
}

TEST(LineageNoops, MoreThanTheWriterHasElsewhereProvesALoss)
{
    const auto run = judged({ { 576, 0 }, { 398, 0 }, { 329, 0 }, { 290, 0 }, { 277, 8 }, { 252, 6 } });
    EXPECT_EQ(obstructed(run), Steps({ 6, 7 }));
    EXPECT_TRUE(step(run, 6).lossProven);
    EXPECT_EQ(step(run, 6).obstacle->code, Code::ChainGap);
    EXPECT_NE(step(run, 6).obstacle->text.find("8 of 277"), std::string::npos) << step(run, 6).obstacle->text;
}

TEST(LineageNoops, ALossThatALaterDeltaProvesIsPlacedAtTheMissingNumber)
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 6).build();
    for (const std::int64_t number : { 2, 3, 5 })
        step(run, number).facts = factsOf(1000);
    step(run, 6).facts = factsOf(1000, 90);
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 6 }));
    EXPECT_NE(step(run, 6).obstacle->text.find("between step 3 and it"), std::string::npos);
    EXPECT_FALSE(step(run, 5).proven);
}

TEST(LineageNoops, OneInASoundChainProvesNothing)
{
    const auto run = judged({ { 661, 0 }, { 600, 0 }, { 500, 1 }, { 450, 0 }, { 350, 0 } });
    EXPECT_TRUE(obstructed(run).empty());
    for (const Version& version : run.versions)
        EXPECT_TRUE(version.proven) << version.step();
}

TEST(LineageNoops, AnEarlyLossIsNoHabitOfTheWriter)
{
    // trl-v2-gap up to step 9, where an empty delta stands in place of delta 3: most steps stand behind the loss
    const auto run =
        judged({ { 1494, 0 }, { 0, 0 }, { 900, 66 }, { 854, 40 }, { 841, 22 }, { 762, 25 }, { 710, 14 }, { 725, 7 } });
    EXPECT_EQ(obstructed(run), Steps({ 4, 5, 6, 7, 8, 9 }));
    EXPECT_EQ(step(run, 9).obstacleAt, 3U);
}

TEST(LineageNoops, WithoutAHabitManyProveALossAndFewNothing)
{
    EXPECT_EQ(obstructed(judged({ { 1029, 139 } })), Steps({ 2 }));
    const auto run = judged({ { 1618, 7 } });
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_FALSE(step(run, 2).proven);
}

TEST(LineageNoops, BetweenHabitAndProofTheStepsAreUnprovenUpToTheNextAnchor)
{
    auto run = RunOf().anchor(1).deltas(2, 5).anchor(6).delta(7).build();
    for (const std::int64_t number : { 2, 3, 5, 7 })
        step(run, number).facts = factsOf(500);
    step(run, 4).facts = factsOf(300, 5);
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 3).proven);
    EXPECT_FALSE(step(run, 4).proven);
    EXPECT_TRUE(step(run, 4).noopsUnexplained);
    EXPECT_NE(problem(step(run, 4).problems, Code::Unproven).text.find("5 of 300"), std::string::npos);
    EXPECT_FALSE(step(run, 5).proven);
    EXPECT_NE(problem(step(run, 5).problems, Code::Unproven).text.find("builds on step 4"), std::string::npos);
    EXPECT_TRUE(step(run, 6).proven);
    EXPECT_TRUE(step(run, 7).proven);
}

TEST(LineageNoops, LaterSegmentsAreHabitForTheFirstDelta)
{
    auto run = RunOf().anchor(1).delta(2).anchor(3).deltas(4, 8).build();
    step(run, 2).facts = factsOf(1618, 7);
    for (const std::int64_t number : { 4, 5, 6, 7, 8 })
        step(run, number).facts = factsOf(900, 6);
    assess(run);
    EXPECT_TRUE(step(run, 2).proven);
    EXPECT_EQ(usualNoops(run), (NoopCounts { 37, 6118 }));
}

TEST(LineageNoops, WhatStandsBehindAProofIsNoHabitForOtherSegments)
{
    // the second loss alone would be explained by the deltas behind the first one
    auto run = RunOf().anchor(1).deltas(2, 12).anchor(13).deltas(14, 15).build();
    for (std::int64_t number = 2; number <= 12; ++number)
        step(run, number).facts = number <= 6 ? factsOf(1000) : factsOf(1000, 30);
    step(run, 14).facts = factsOf(1000);
    step(run, 15).facts = factsOf(300, 8);
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 7, 8, 9, 10, 11, 12, 15 }));
    EXPECT_EQ(usualNoops(run), (NoopCounts { 0, 6000 }));
}

TEST(LineageNoops, ALossInTheFirstSegmentIsProvenByAHabitThatALaterProofHasCleaned)
{
    // tested in order, the first segment meets a habit that the second loss spoils; that one is proven by its own front
    auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).deltas(5, 20).build();
    step(run, 2).facts = factsOf(300);
    step(run, 3).facts = factsOf(300, 12);
    for (std::int64_t number = 5; number <= 20; ++number)
        step(run, number).facts = number <= 12 ? factsOf(500) : factsOf(500, 40);
    assess(run);
    EXPECT_TRUE(step(run, 3).lossProven);
    EXPECT_TRUE(step(run, 13).lossProven);
}

TEST(LineageNoops, TheNaturalRateOfAWriterProvesNothing)
{
    // a real run of the newest TRL writer on bf16 parameters
    const auto run = judged({ { 1618, 7 },
                              { 1077, 4 },
                              { 838, 5 },
                              { 669, 3 },
                              { 542, 5 },
                              { 470, 5 },
                              { 448, 3 },
                              { 434, 3 },
                              { 411, 4 },
                              { 403, 3 } });
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(usualNoops(run), (NoopCounts { 42, 6910 }));
}

TEST(LineageNoops, AJumpAboveTheNaturalRateProvesALoss)
{
    const auto run = judged({ { 1618, 7 }, { 1077, 4 }, { 838, 5 }, { 669, 3 }, { 542, 90 } });
    EXPECT_EQ(obstructed(run), Steps({ 6 }));
}

TEST(LineageNoops, TheNaturalRateIsToldOnceForTheRun)
{
    const auto run = judged({ { 1000, 7 }, { 1000, 5 }, { 1000, 6 } });
    const Error& noop = problem(run.problems, Code::Noop);
    EXPECT_NE(noop.text.find("18 of 3000"), std::string::npos) << noop.text;
}

TEST(LineageNoops, ARunWithoutThemHasNoSuchProblem)
{
    EXPECT_EQ(count(judged({ { 1000, 0 }, { 1000, 0 } }).problems, Code::Noop), 0U);
}

TEST(LineageNoops, DeltasBehindAGapDoNotShapeTheRate)
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 9).build();
    for (const std::int64_t number : { 2, 3 })
        step(run, number).facts = factsOf(1000);
    for (const std::int64_t number : { 5, 6, 7, 8, 9 })
        step(run, number).facts = factsOf(1000, 30);
    assess(run);
    EXPECT_EQ(usualNoops(run), (NoopCounts { 0, 2000 }));
    EXPECT_EQ(obstructed(run), Steps({ 5, 6, 7, 8, 9 }));
    EXPECT_EQ(step(run, 9).obstacleAt, 3U);
}

TEST(LineageNoops, AnUnprovenStepWithoutThemStaysRestorable)
{
    auto run = RunOf().anchor(1).deltas(2, 3).delta(5).build();
    for (const std::int64_t number : { 2, 3, 5 })
        step(run, number).facts = factsOf(1000);
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_FALSE(step(run, 5).proven);
}

TEST(LineageNoops, WithMatchingDigestsTheyProveNothing)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    for (const std::int64_t number : { 1, 2 }) {
        step(run, number).facts = factsOf(100, 50);
        step(run, number).facts->digestsChecked = 2;
    }
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
}

// --- drift -----------------------------------------------------------------------------------------------------------

Run withAnchorDifference(std::uint64_t difference)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(5).build();
    for (const std::int64_t number : { 2, 3, 4 })
        step(run, number).facts = factsOf(100);
    VersionFacts facts = factsOf(0);
    facts.changedElements = 400;
    facts.changedVsPrevious = difference;
    step(run, 5).facts = facts;
    assess(run);
    return run;
}

TEST(LineageDrift, HalfAsMuchAgainAsTheSecondLargestDeltaIsNoAlarm)
{
    EXPECT_EQ(count(step(withAnchorDifference(150), 5).problems, Code::AnchorDrift), 0U);
}

TEST(LineageDrift, MoreThanThatIsAnAlarm)
{
    const auto run = withAnchorDifference(151);
    const Error& drift = problem(step(run, 5).problems, Code::AnchorDrift);
    EXPECT_NE(drift.text.find("151"), std::string::npos) << drift.text;
    EXPECT_EQ(drift.step, 5);
    EXPECT_FALSE(step(run, 5).obstacle);
}

/// Steps 2 to 4 are deltas, 5 is an anchor; a root proves those in `proven`.
Run withAnchorFarAway(const Steps& proven)
{
    auto run = withAnchorDifference(151);
    for (const std::int64_t number : proven)
        step(run, number).facts->rootCheck = VersionFacts::RootCheck::Matches;
    assess(run);
    return run;
}

Steps alarmedSteps(const Run& run)
{
    Steps steps;
    for (const Version& version : run.versions) {
        if (version.driftAlarm)
            steps.push_back(version.step());
    }
    return steps;
}

TEST(LineageDrift, WhatRootsProveOnBothSidesIsNotAccused)
{
    const auto run = withAnchorFarAway({ 2, 3, 4, 5 });
    EXPECT_EQ(alarmedSteps(run), Steps());
    for (const Version& version : run.versions)
        EXPECT_EQ(count(version.problems, Code::AnchorDrift), 0U) << version.step();
    EXPECT_TRUE(step(run, 5).farFromReplay) << "whether two runs meet there is another question";
}

TEST(LineageDrift, WhatNoRootProvesIsAccusedAsBefore)
{
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({})), Steps({ 2, 3, 4, 5 }));
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({ 2, 3, 4 })), Steps({ 5 }));
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({ 2, 3 })), Steps({ 4, 5 }));
    const auto run = withAnchorFarAway({ 5 });
    EXPECT_EQ(alarmedSteps(run), Steps({ 2, 3, 4 }));
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U) << "the difference shows there";
    EXPECT_EQ(problem(step(run, 4).problems, Code::AnchorDrift).text.find("that state"), std::string::npos)
        << "it is proven";
}

TEST(LineageDrift, ADamagedAnchorIsNotComparedWithTheReplay)
{
    for (const bool isDamaged : { false, true }) {
        auto run = withAnchorDifference(101);
        step(run, 5).facts->sameLowByte = 1;
        if (isDamaged)
            step(run, 5).facts->rootCheck = VersionFacts::RootCheck::Differs;
        assess(run);
        EXPECT_EQ(count(run.problems, Code::Missed), isDamaged ? 0U : 1U);
        EXPECT_EQ(driftAt(run, 4).has_value(), !isDamaged);
        if (!isDamaged) {
            EXPECT_NE(problem(run.problems, Code::Missed)
                          .text.find("has missed 1 change: the anchor at step 5 holds it, the states"),
                      std::string::npos);
        }
    }
}

TEST(LineageDrift, APoisonedDeltaDoesNotRaiseItsOwnLimit)
{
    auto run = withAnchorDifference(400);
    step(run, 3).facts = factsOf(400); // a delta that changes all, and an anchor that takes it back
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, DeltasThatChangeNothingAreNoMeasure)
{
    auto run = withAnchorDifference(150);
    step(run, 3).facts = factsOf(0);
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    step(run, 5).facts->changedVsPrevious = 151;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, AnAnchorBehindAMissingNumberMayHoldTwoSteps)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(6).build();
    for (const std::int64_t number : { 2, 3, 4 })
        step(run, number).facts = factsOf(100);
    step(run, 6).facts = factsOf(0);
    for (const std::uint64_t differs : { 300U, 301U }) {
        step(run, 6).facts->changedVsPrevious = differs;
        assess(run);
        EXPECT_EQ(count(step(run, 6).problems, Code::AnchorDrift), differs == 301 ? 1U : 0U) << differs;
    }
}

TEST(LineageDrift, AnAlarmConcernsTheDeltasSinceTheAnchorBeforeAndTheAnchor)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(5).deltas(6, 8).anchor(9).delta(10).build();
    for (const std::int64_t number : { 2, 3, 4, 6, 7, 8, 10 })
        step(run, number).facts = factsOf(100);
    for (const std::int64_t number : { 5, 9 }) {
        step(run, number).facts = factsOf(0);
        step(run, number).facts->changedVsPrevious = number == 5 ? 90 : 151;
    }
    assess(run);
    for (const Version& version : run.versions) {
        const bool concerned = version.step() >= 6 && version.step() <= 9;
        EXPECT_EQ(version.driftAlarm, concerned) << version.step();
        EXPECT_EQ(count(version.problems, Code::AnchorDrift), concerned ? 1U : 0U) << version.step();
    }
    step(run, 9).facts->changedVsPrevious = 150;
    assess(run);
    EXPECT_FALSE(step(run, 9).driftAlarm);
    EXPECT_FALSE(step(run, 6).driftAlarm);
}

TEST(LineageDrift, WithFewerThanTwoDeltasNothingIsCompared)
{
    auto run = RunOf().anchor(1).delta(2).anchor(3).build();
    step(run, 2).facts = factsOf(10);
    step(run, 3).facts = factsOf(0);
    step(run, 3).facts->changedVsPrevious = 400;
    assess(run);
    EXPECT_FALSE(driftLimit(run, 2));
    EXPECT_FALSE(step(run, 3).driftAlarm);
}

TEST(LineageDrift, ATensorBeyondItsOwnLimitIsAnAlarm)
{
    auto run = withAnchorDifference(100);
    step(run, 5).facts->driftedTensors = { { "w", 80, 20 }, { "b", 40, 7 } };
    assess(run);
    const std::string text = problem(step(run, 5).problems, Code::AnchorDrift).text;
    EXPECT_NE(text.find("80 elements of w"), std::string::npos) << text;
    EXPECT_TRUE(step(run, 4).driftAlarm);
}

TEST(LineageDrift, WarmUpAndAChangeOfTheLearningRateAreNoAlarm)
{
    for (const auto& sizes : { std::vector<std::uint64_t> { 10, 15, 22, 33, 50, 74, 90, 100 },
                               std::vector<std::uint64_t> { 100, 100, 100, 60, 60, 60, 60, 60 } }) {
        auto run = RunOf().anchor(1).deltas(2, 8).anchor(9).build();
        for (std::int64_t number = 2; number <= 8; ++number)
            step(run, number).facts = factsOf(sizes[static_cast<std::size_t>(number - 2)]);
        step(run, 9).facts = factsOf(0);
        step(run, 9).facts->changedVsPrevious = sizes.back();
        assess(run);
        EXPECT_FALSE(step(run, 9).driftAlarm);
    }
}

TEST(LineageDrift, MissedChangesOfALowByteWriterAreCountedAndAreNoAlarm)
{
    auto run = withAnchorDifference(159);
    step(run, 5).facts->sameLowByte = 9;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    EXPECT_NE(problem(run.problems, Code::Missed).text.find("missed 9 changes"), std::string::npos);
    EXPECT_EQ(driftAt(run, 4)->missed, 9U);
    EXPECT_EQ(driftAt(run, 4)->estimate, 50U);

    step(run, 3).facts->sameLowByte = 1; // such a writer would have missed this one
    assess(run);
    EXPECT_EQ(count(run.problems, Code::Missed), 0U);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, MoreMissedChangesThanChangesAreAnAlarm)
{
    auto run = withAnchorDifference(390);
    step(run, 5).facts->sameLowByte = 390; // every sign turned over
    assess(run);
    EXPECT_TRUE(step(run, 5).driftAlarm);
    EXPECT_EQ(count(run.problems, Code::Missed), 0U);
}

TEST(LineageDrift, ZerosWithAnotherSignAreCountedApartAndAreNoAlarm)
{
    auto run = withAnchorDifference(190);
    step(run, 5).facts->zeroSigns = 40;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    const auto drift = driftAt(run, 4);
    ASSERT_TRUE(drift);
    EXPECT_EQ(drift->differs, 190U);
    EXPECT_EQ(drift->zeroSigns, 40U);
    EXPECT_EQ(drift->estimate, 50U);

    step(run, 5).facts->zeroSigns = 39;
    assess(run);
    const std::string text = problem(step(run, 5).problems, Code::AnchorDrift).text;
    EXPECT_NE(text.find("39 of them in the sign of zero alone"), std::string::npos) << text;
}

TEST(LineageDrift, DeltasOfAnotherEpochAreNoMeasure)
{
    // epoch 0: small steps up to 8; epoch 1: a run that moves ten times as much
    RunOf versions;
    for (std::int64_t number = 1; number <= 8; ++number) {
        const bool isAnchor = number == 1 || number == 4 || number == 8;
        const bool isNew = number <= 4;
        isAnchor ? versions.anchor(number) : versions.delta(number);
        versions.at((isNew ? LongAfter : Begin) + number * Second);
    }
    auto run = versions.build(LongAfter + 1000 * Second);
    ASSERT_EQ(run.epochs(), 2);
    for (Version& version : run.versions) {
        if (version.kind == VersionKind::Delta)
            version.facts = factsOf(version.epoch == 0 ? 1000 : 10);
    }
    VersionFacts facts = factsOf(0);
    facts.changedVsPrevious = 100; // ten times what the deltas of its own epoch change
    step(run, 4).facts = facts;
    assess(run);
    EXPECT_EQ(count(step(run, 4).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, BehindALossTheDifferenceOfAnAnchorMeansNothing)
{
    auto run = RunOf().anchor(1).deltas(2, 3).delta(5).anchor(6).build();
    for (const std::int64_t number : { 2, 3 })
        step(run, number).facts = factsOf(1000);
    step(run, 5).facts = factsOf(1000, 90);
    VersionFacts facts;
    facts.changedVsPrevious = 3900;
    step(run, 6).facts = facts;
    assess(run);
    ASSERT_EQ(obstructed(run), Steps({ 5 }));
    EXPECT_FALSE(step(run, 6).facts->changedVsPrevious);
    EXPECT_EQ(count(step(run, 6).problems, Code::AnchorDrift), 0U);
}

// --- epochs ----------------------------------------------------------------------------------------------------------

Run restarted()
{
    RunOf versions;
    for (std::int64_t number = 1; number <= 6; ++number)
        (number == 1 ? versions.anchor(number) : versions.delta(number)).at(LongAfter + number * Second);
    for (std::int64_t number = 7; number <= 12; ++number)
        (number == 10 ? versions.anchor(number) : versions.delta(number)).at(Begin + number * Second);
    return versions.build(LongAfter + 1000 * Second);
}

TEST(LineageEpochs, NothingIsChainedAcrossThem)
{
    const auto run = restarted();
    ASSERT_EQ(run.epochs(), 2);
    EXPECT_EQ(step(run, 7).epoch, 0);
    EXPECT_EQ(step(run, 6).epoch, 1);
    EXPECT_FALSE(step(run, 7).base);
    EXPECT_EQ(obstructed(run), Steps({ 7, 8, 9 }));
}

TEST(LineageEpochs, AForkIsAProblemThatNamesBothRuns)
{
    const auto run = restarted();
    const Error& fork = problem(run.problems, Code::Fork);
    EXPECT_EQ(fork.step, 7);
    EXPECT_NE(fork.text.find("steps 7-12"), std::string::npos) << fork.text;
    EXPECT_NE(fork.text.find("epoch 0"), std::string::npos);
}

TEST(LineageEpochs, AStepIsLookedForInTheNewestEpochThatHasIt)
{
    const auto run = restarted();
    EXPECT_EQ(run.find(3)->epoch, 1);
    EXPECT_EQ(run.find(8)->epoch, 0);
    EXPECT_EQ(run.find(8, 1), nullptr);
}

TEST(LineageEpochs, TheBreakBetweenThemIsNoGap) { EXPECT_TRUE(restarted().gaps.empty()); }

TEST(LineageLatest, IsTheNewestRestorableStepOfTheNewestEpoch) { EXPECT_EQ(restarted().latest()->step(), 6); }

TEST(LineageLatest, SkipsWhatIsStillBeingPublished)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).unreadable(4, Code::Truncated).build(Begin + 5 * Second);
    EXPECT_EQ(run.latest()->step(), 3);
}

TEST(LineageLatest, IsTheNewestStepWhereNoneCanBeRebuilt)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).deltaOn(2, 1).build();
    EXPECT_EQ(run.latest()->step(), 2);
}

// --- plans -----------------------------------------------------------------------------------------------------------

TEST(LineagePlan, StartsAtTheNearestCompleteAnchor)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).deltas(5, 7).build();
    const auto plan = planFor(run, step(run, 6));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 4, 5, 6 }));
    EXPECT_EQ(plan->deltas(), 2U);
    EXPECT_EQ(plan->readBytes, 300U);
}

TEST(LineagePlan, OfAnAnchorIsTheAnchorAlone)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 4 }));
    EXPECT_EQ(plan->deltas(), 0U);
}

TEST(LineagePlan, GoesThroughPartialAnchors)
{
    const auto run = RunOf().anchor(1, 13).delta(2).anchor(3, 8).delta(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 2, 3, 4 }));
}

TEST(LineagePlan, FromAnExternalBaseCountsItsBytes)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    const auto plan = planFor(run, step(run, 2));
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->fromExternalBase);
    EXPECT_EQ(plan->deltas(), 2U);
    EXPECT_EQ(plan->readBytes, 300U);
}

TEST(LineagePlan, IsTheObstacleWhereThereIsOne)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).delta(3).build();
    const auto plan = planFor(run, step(run, 3));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error(), *step(run, 3).obstacle);
}

TEST(LineagePlan, AcrossAnUnprovenGapIsMadeAndMarked)
{
    const auto run = RunOf().anchor(1).delta(2).delta(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->acrossGap);
}

Run withProvenLoss()
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 6).build();
    for (const std::int64_t number : { 2, 3, 6 })
        step(run, number).facts = factsOf(1000);
    step(run, 5).facts = factsOf(1000, 90);
    assess(run);
    return run;
}

TEST(LineagePlan, AcrossAProvenLossIsRefused)
{
    const auto run = withProvenLoss();
    const auto plan = planFor(run, step(run, 6));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::ChainGap);
    EXPECT_EQ(plan.error().step, 5);
}

TEST(LineagePlan, AcrossAProvenLossIsMadeOnRequest)
{
    const auto run = withProvenLoss();
    const auto plan = planFor(run, step(run, 6), { .acrossGap = true });
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 2, 3, 5, 6 }));
    EXPECT_TRUE(plan->acrossGap);
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotExcuseABrokenStep)
{
    auto run = withProvenLoss();
    step(run, 3).failure = Error { Code::Truncated, "cut short", {}, {}, {} };
    assess(run);
    const auto plan = planFor(run, step(run, 6), { .acrossGap = true });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().step, 3);
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotExcuseAStepThatCannotBeRead)
{
    auto run = withProvenLoss();
    step(run, 5).failure = Error { Code::Truncated, "cut short", {}, {}, {} }; // beside its no-ops
    assess(run);
    EXPECT_FALSE(planFor(run, step(run, 6), { .acrossGap = true }));
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotInventABase)
{
    const auto run = RunOf().deltas(7, 9).anchor(10).build();
    const auto plan = planFor(run, step(run, 9), { .acrossGap = true });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::ChainGap);
    EXPECT_NE(plan.error().text.find("step 6"), std::string::npos) << plan.error().text;
}

} // namespace
} // namespace deltascope
