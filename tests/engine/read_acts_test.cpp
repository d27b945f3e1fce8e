#include "deltascope/engine/read_acts.h"

#include "golden_copy.h"
#include "run_steps.h"
#include "support/counting_store.h"
#include "tiny_run.h"

#include <algorithm>
#include <set>

// Plans of acts that only read, held against what the stores are asked for.

namespace deltascope {
namespace {

using namespace layout_test;
using test::CountingStore;

using Keys = std::set<std::string>;

/// Keys of a store that a plan reads. `whole`: those of which it reads all bytes.
Keys keysOf(const ActPlan& plan, const std::string& store, bool whole = false)
{
    Keys keys;
    for (const PlannedObject& object : plan.reads) {
        if (object.store == store && (!whole || object.bytes > 0))
            keys.insert(object.key);
    }
    return keys;
}

Keys keysRead(const CountingStore& store)
{
    Keys keys;
    for (const CountingStore::Read& read : store.reads()) {
        if (!read.key.starts_with(".deltascope/"))
            keys.insert(read.key);
    }
    return keys;
}

/// A run whose reads are taken down, and those of its base.
struct Counted : Session {
    explicit Counted(std::shared_ptr<ObjectStore> source, std::shared_ptr<ObjectStore> from = {})
        : store(std::make_shared<CountingStore>(std::move(source)))
        , base(from ? std::make_shared<CountingStore>(std::move(from)) : nullptr)
    {
    }

    deltascope::Run opened()
    {
        auto run = open(store, base);
        EXPECT_TRUE(run) << run.error().text;
        store->clear();
        if (base)
            base->clear();
        return run ? std::move(*run) : deltascope::Run();
    }
    using Range = std::optional<std::pair<std::size_t, std::size_t>>;
    ActPlan planOf(int level, Range range = {}, std::optional<std::size_t> until = {})
    {
        return planVerify(opened(), { level, range, false, until });
    }

    std::shared_ptr<CountingStore> store, base;
};

Keys tinyKeys(const std::vector<int>& steps)
{
    Keys keys;
    for (const int step : steps)
        keys.insert(TinyRun::keyOf(step, step == 1 || step == 5));
    return keys;
}

// --- verify ----------------------------------------------------------------------------------------------------------

TEST(PlanOfVerify, NamesWhatIsReadByItsLevel)
{
    const TinyRun tiny = TinyRun::sound();
    Counted counted(tiny.store);
    EXPECT_TRUE(counted.planOf(0).reads.empty());
    EXPECT_EQ(keysOf(counted.planOf(1), {}), tinyKeys({ 1, 2, 3, 4, 5, 6 }));
    EXPECT_EQ(counted.planOf(1).readBytes(), 0U) << "headers alone";
    EXPECT_FALSE(counted.planOf(1).unknown.empty()) << "nobody knows how long they are";
    const std::pair<std::size_t, std::size_t> thirdAlone { 2, 2 };
    EXPECT_EQ(keysOf(counted.planOf(2, thirdAlone), {}, true), tinyKeys({ 1, 2, 3 })) << "what it builds on, too";
    EXPECT_EQ(keysOf(counted.planOf(3, thirdAlone), {}, true), tinyKeys({ 1, 2, 3, 4, 5 }))
        << "a replay begins at the anchor before and ends at the one behind";
    EXPECT_EQ(keysOf(counted.planOf(3, std::pair<std::size_t, std::size_t> { 5, 5 }), {}, true), tinyKeys({ 5, 6 }));
    EXPECT_TRUE(keysRead(*counted.store).empty()) << "a plan reads nothing";
}

class PlanOfVerifyOf : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, PlanOfVerifyOf,
                         testing::Values("trl-v2-raw", "trl-v2-partial-anchor", "trl-v2-restart", "trl-v2-gap",
                                         "slime-v1-deltas", "slime-v2-xor", "grail", "hf-sharded", "skyrl",
                                         "trl-adapter", "dcp"),
                         [](const auto& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(PlanOfVerifyOf, IsWhatTheStoreIsAskedFor)
{
    const GoldenCopy golden(GetParam());
    Counted counted(golden.store, golden.base);
    counted.openRecords();
    const std::size_t last = counted.opened().versions.size() - 1;
    for (int level = 0; level <= 4; ++level) {
        for (const auto& range : { std::pair(std::size_t { 0 }, last), std::pair(last / 2, last / 2) }) {
            SCOPED_TRACE(fmt::format("level {} of {} to {}", level, range.first, range.second));
            deltascope::Run run = counted.opened();
            const VerifyOptions options { level, range, false };
            const ActPlan plan = planVerify(run, options);
            const auto report = verifyRun(counted.bench, run, options, counted.task);
            ASSERT_TRUE(report) << report.error().text;
            const Keys planned = keysOf(plan, {}, level >= 2);
            const Keys read = keysRead(*counted.store);
            EXPECT_TRUE(std::includes(planned.begin(), planned.end(), read.begin(), read.end()));
            const bool isKnown = level == 2 && range.first > 0; // what the range builds on, from the whole one
            const bool isExact =
                level == 2 || (level != 1 && GetParam() != std::string("grail")); // others need no replay
            if (isExact && !isKnown) {
                EXPECT_EQ(planned, read);
            }
            if (counted.base) {
                EXPECT_EQ(keysOf(plan, counted.base->uri(), true), keysRead(*counted.base));
            }
        }
    }
}

TEST_P(PlanOfVerifyOf, NamesWhatTheRangeBuildsOn)
{
    const GoldenCopy golden(GetParam());
    Counted counted(golden.store, golden.base);
    counted.openRecords();
    deltascope::Run run = counted.opened();
    const std::size_t middle = (run.versions.size() - 1) / 2;
    const VerifyOptions options { 2, std::pair(middle, middle), false };
    const ActPlan plan = planVerify(run, options);
    const auto report = verifyRun(counted.bench, run, options, counted.task);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(keysOf(plan, {}, true), keysRead(*counted.store));
}

TEST(PlanOfVerify, GoesUpToTheStepThatWasTheNewest)
{
    for (int level = 0; level <= 4; ++level) {
        SCOPED_TRACE(level);
        TinyRun tiny = TinyRun::sound();
        Counted counted(tiny.store);
        const std::pair<std::size_t, std::size_t> all { 0, 5 };
        const std::pair<std::size_t, std::size_t> lastAlone { 5, 5 };
        const std::string before = counted.planOf(level).hash();
        const std::string ofLast = counted.planOf(level, lastAlone).hash();
        EXPECT_EQ(counted.planOf(level, all, 5).hash(), before);
        tiny.delta(7, { 1 }, { 3 }).anchor(8, { 2, 3, 1, 5, 0, 9, 9, 2 });
        EXPECT_EQ(counted.planOf(level, all, 5).hash(), before) << "steps that come later are none of these";
        EXPECT_EQ(counted.planOf(level, lastAlone, 5).hash(), ofLast);
        EXPECT_NE(counted.planOf(level).hash(), before);
        EXPECT_TRUE(expectPlanned(counted.planOf(level, all, 5), before, "source", {}));
        EXPECT_FALSE(expectPlanned(counted.planOf(level), before, "source", {}));
    }
}

TEST(PlanOfVerify, WhatIsBehindItsEndIsNotRead)
{
    TinyRun tiny = TinyRun::sound();
    Counted counted(tiny.store);
    tiny.delta(7, { 1 }, { 3 });
    deltascope::Run run = counted.opened();
    const VerifyOptions options { 4, std::pair<std::size_t, std::size_t> { 0, 5 }, false, 5 };
    const auto report = verifyRun(counted.bench, run, options, counted.task);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->steps.size(), 6U);
    EXPECT_EQ(keysRead(*counted.store), tinyKeys({ 1, 2, 3, 4, 5, 6 }));
    EXPECT_FALSE(run.versions[6].facts);
    EXPECT_EQ(wordsOf(run, *report),
              (Words { { 1, "unverified" },
                       { 2, "consistent" },
                       { 3, "consistent" },
                       { 4, "consistent" },
                       { 5, "consistent" },
                       { 6, "unverified" } }));
}

TEST(PlanOfVerify, IsAnotherOneOnceAnObjectIsPublishedAgain)
{
    for (int level = 0; level <= 4; ++level) {
        SCOPED_TRACE(level);
        TinyRun tiny = TinyRun::sound();
        Counted counted(tiny.store);
        const std::string before = counted.planOf(level).hash();
        tiny.delta(3, { 2 }, { 7 });
        const auto refused = expectPlanned(counted.planOf(level), before, "source", 3);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::Exists);
        EXPECT_EQ(refused.error().action, "Look at the plan again, and repeat this.");
    }
}

TEST(PlanOfVerify, IsOfItsLevelAndOfWhatIsAccepted)
{
    const TinyRun tiny = TinyRun::sound();
    Counted counted(tiny.store);
    const deltascope::Run run = counted.opened();
    Keys hashes;
    for (int level = 0; level <= 4; ++level) {
        hashes.insert(planVerify(run, { level, {}, false }).hash());
        hashes.insert(planVerify(run, { level, {}, true }).hash());
    }
    EXPECT_EQ(hashes.size(), 10U);
    EXPECT_TRUE(planVerify(run, { 1, {}, true }).effects.empty()) << "no bytes are compared with records";
    EXPECT_EQ(planVerify(run, { 2, {}, true }).effects.front().fact, "records");
}

TEST(PlanOfVerify, OfAnEmptyRunReadsNothing)
{
    EXPECT_TRUE(planVerify(deltascope::Run(), { 3, {}, false }).reads.empty());
}

// --- diff and materialize --------------------------------------------------------------------------------------------

struct PlannedRun : Counted {
    PlannedRun()
        : PlannedRun(TinyRun::sound())
    {
    }
    explicit PlannedRun(TinyRun made)
        : Counted(made.store)
        , tiny(std::move(made))
    {
        openDisk();
    }

    ActPlan diffOf(std::int64_t a, std::int64_t b)
    {
        const deltascope::Run run = opened();
        const auto left = planFor(run, step(run, a));
        const auto right = planFor(run, step(run, b));
        EXPECT_TRUE(left && right);
        return planDiff({ run, step(run, a), *left }, { run, step(run, b), *right }, false);
    }
    ActPlan rebuildOf(std::int64_t number, const MaterializeOptions& options)
    {
        const deltascope::Run run = opened();
        const auto plan = planFor(run, step(run, number));
        EXPECT_TRUE(plan);
        auto act = planMaterialize({ run, step(run, number), *plan }, StateChoice::Served, options, task);
        EXPECT_TRUE(act);
        return act.value_or(ActPlan());
    }
    MaterializeOptions into(const std::string& name) const
    {
        MaterializeOptions options;
        options.destination = folder.path(name);
        return options;
    }

    TinyRun tiny;
};

TEST(PlanOfDiff, ReadsWhatBothStatesAreRebuiltFrom)
{
    PlannedRun planned;
    EXPECT_EQ(keysOf(planned.diffOf(2, 6), {}, true), tinyKeys({ 1, 2, 5, 6 }));
    EXPECT_EQ(keysOf(planned.diffOf(2, 3), {}, true), tinyKeys({ 1, 2, 3 })) << "each object once";
    EXPECT_NE(planned.diffOf(2, 3).hash(), planned.diffOf(3, 2).hash());

    const deltascope::Run run = planned.opened();
    const auto a = planFor(run, step(run, 2));
    const auto b = planFor(run, step(run, 6));
    const auto left = openPath(run, *a, {}, planned.task);
    const auto right = openPath(run, *b, {}, planned.task);
    ASSERT_TRUE(left && right);
    ASSERT_TRUE(diffStates(planned.bench, **left, **right, {}, planned.task));
    EXPECT_EQ(keysRead(*planned.store), tinyKeys({ 1, 2, 5, 6 }));
}

TEST(PlanOfDiff, IsAnotherOneOnceAnObjectOnTheWayIsPublishedAgain)
{
    PlannedRun planned;
    const std::string before = planned.diffOf(3, 6).hash();
    planned.tiny.delta(4, { 1 }, { 3 }).delta(7, { 1 }, { 3 });
    EXPECT_EQ(planned.diffOf(3, 6).hash(), before) << "neither state builds on them";
    planned.tiny.delta(2, { 0, 1 }, { 1, 3 });
    EXPECT_NE(planned.diffOf(3, 6).hash(), before);
}

TEST(PlanOfMaterialize, ReadsTheWayToTheStepAndMakesTheFolder)
{
    PlannedRun planned;
    const MaterializeOptions options = planned.into("new");
    const ActPlan plan = planned.rebuildOf(3, options);
    EXPECT_EQ(keysOf(plan, {}, true), tinyKeys({ 1, 2, 3 }));
    ASSERT_EQ(plan.effects.size(), 1U);
    EXPECT_EQ(plan.effects.front().value, planned.folder.path("new"));
    EXPECT_FALSE(std::filesystem::exists(options.destination));

    const deltascope::Run run = planned.opened();
    const auto way = planFor(run, step(run, 3));
    const auto made = materialize(planned.bench, run, step(run, 3), *way, options, planned.task);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(keysRead(*planned.store), tinyKeys({ 1, 2, 3 }));
}

TEST(PlanOfMaterialize, IsOfWhatItReadsAndOfWhatIsAskedFor)
{
    PlannedRun planned;
    MaterializeOptions options = planned.into("new");
    const std::string before = planned.rebuildOf(3, options).hash();
    planned.tiny.delta(7, { 1 }, { 3 });
    EXPECT_EQ(planned.rebuildOf(3, options).hash(), before) << "a step that comes later";
    EXPECT_NE(planned.rebuildOf(3, planned.into("other")).hash(), before);
    options.shardBytes = 100;
    EXPECT_NE(planned.rebuildOf(3, options).hash(), before);
    options.shardBytes = 0;
    options.forTraining = true;
    EXPECT_NE(planned.rebuildOf(3, options).hash(), before);
    options.forTraining = false;
    planned.tiny.delta(2, { 0, 1 }, { 1, 3 });
    EXPECT_NE(planned.rebuildOf(3, options).hash(), before) << "an object on the way was published again";
}

TEST(PlanOfMaterialize, ForTrainingReadsTheTrainersFilesToo)
{
    const GoldenCopy golden("hf-sharded");
    const deltascope::Run listed = Session().analyzed(golden.store);
    const std::string& key = listed.versions.back().objects.objects.front().key;
    const std::string beside = key.substr(0, key.rfind('/') + 1) + "optimizer.pt";
    golden.write(beside, "moments"); // a version of this layout is its whole folder
    Counted counted(golden.store);
    const deltascope::Run run = counted.opened();
    const Version& last = run.versions.back();
    const auto way = planFor(run, last);
    ASSERT_TRUE(way);
    MaterializeOptions options;
    const auto plain = planMaterialize({ run, last, *way }, StateChoice::Served, options, counted.task);
    options.forTraining = true;
    const auto training = planMaterialize({ run, last, *way }, StateChoice::Served, options, counted.task);
    ASSERT_TRUE(plain && training);
    EXPECT_FALSE(keysOf(*plain, {}).contains(beside));
    EXPECT_TRUE(keysOf(*training, {}, true).contains(beside));
}

} // namespace
} // namespace deltascope
