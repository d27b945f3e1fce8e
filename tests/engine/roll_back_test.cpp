#include "deltascope/engine/roll_back.h"

#include "deltascope/engine/beside.h"
#include "golden_copy.h"
#include "publish_fixture.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <functional>
#include <map>

// Roll backs: what they publish, when they refuse, and what is left where they fail.

namespace deltascope {
namespace {

using namespace layout_test;

/// Does something right behind the put of a key.
class HookedStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        Result<ObjectInfo> object = ForwardingStore::put(key, bytes, mode, task);
        if (object && onPut)
            onPut(std::string(key));
        return object;
    }
    std::function<void(const std::string& key)> onPut;
};

struct RollingBack : Publishing {
    explicit RollingBack(std::string layout = "trl-v2")
        : Publishing(std::move(layout))
    {
        publishAll(1, 6);
    }

    Result<RollBackPlan> plan(std::int64_t to) { return planRollBack(bench, source, base, step(to), task); }
    Result<RolledBack> run(std::int64_t to, std::string hash = {})
    {
        if (hash.empty()) {
            DS_TRY(const RollBackPlan planned, plan(to));
            hash = planned.act.hash();
        }
        return rollBack(bench, source, base, step(to), { hash, "kim@host" }, task);
    }
    Result<RolledBack> undo()
    {
        const ChooseVersion before = [this](const Run& now) { return stateBeforeRollBack(bench, now, task); };
        DS_TRY(const RollBackPlan planned, planRollBack(bench, source, base, before, task));
        return rollBack(bench, source, base, before, { planned.act.hash(), "kim@host" }, task);
    }
    std::vector<std::string> phases()
    {
        std::vector<std::string> phases;
        for (const JournalEntry& entry : readJournal(*Publishing::run, {}, task).value_or(std::vector<JournalEntry>()))
            phases.push_back(entry.phase);
        return phases;
    }

    std::shared_ptr<ObjectStore> source = Publishing::run;
};

class RollBackOf : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, RollBackOf, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& param) { return std::string(param.param, 3); });

TEST_P(RollBackOf, RefusesInItsPlanWhereTheNewestStepLiesInAMirrorAlone)
{
    RollingBack p(GetParam());
    test::TempDir mirror;
    std::vector<std::string> newest;
    const deltascope::Run before = p.view();
    const Version& last = *before.find(6);
    for (const ObjectInfo& object : last.objects.objects)
        newest.push_back(object.key);
    for (const std::string& key : p.keys())
        mirror.write(key, readObject(*p.Publishing::run, key));
    p.base.mirrors = std::vector { Address(mirror.path()) };
    EXPECT_TRUE(p.plan(3)) << "the source holds the newest step, too";
    for (const std::string& key : newest)
        ASSERT_TRUE(p.Publishing::run->remove(key));
    const Error error = errorOf(p.plan(3));
    EXPECT_EQ(error.code, Code::Vanished) << error.text;
    EXPECT_EQ(error.step, 6);
    EXPECT_NE(error.action.find("Copy its objects back"), std::string::npos) << error.action;
}

TEST_P(RollBackOf, PublishesTheEarlierStateBehindTheNewest)
{
    RollingBack p(GetParam());
    const std::vector<std::string> before = p.keys();
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned) << planned.error().text;
    EXPECT_EQ(planned->from, 6);
    EXPECT_EQ(planned->to, 3);
    EXPECT_EQ(planned->step, 7);
    EXPECT_EQ(planned->evidence, Verdict::Verified);
    EXPECT_GT(planned->difference.elementsDifferent(), 0U);
    EXPECT_EQ(p.keys(), before);
    const auto done = p.run(3);
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(done->step, 7);
    EXPECT_EQ(done->changedElements, planned->difference.elementsDifferent());
    EXPECT_EQ(p.rootOfStep(7).value_or("none"), p.rootOfCheckpoint(3));
    EXPECT_EQ(p.factOf(7, fact::Restores), "3");
    EXPECT_EQ(p.factOf(7, fact::Origin), Publishing::originOf(6)); // or a watching publisher would publish 4 to 6 again
    EXPECT_EQ(p.factOf(7, fact::Run), p.factOf(6, fact::Run));
    std::vector<std::string> written;
    for (const PlannedObject& object : planned->act.writes)
        written.push_back(object.key);
    std::sort(written.begin(), written.end());
    std::vector<std::string> after = p.keys();
    std::erase_if(after, [&](const std::string& key) { return std::binary_search(before.begin(), before.end(), key); });
    EXPECT_EQ(after, written);
    EXPECT_EQ(p.phases(), (std::vector<std::string> { "begun", "done" }));
}

TEST_P(RollBackOf, UndoIsARollBackToTheStateBefore)
{
    RollingBack p(GetParam());
    EXPECT_EQ(p.undo().error().code, Code::NotFound);
    ASSERT_TRUE(p.run(3));
    for (const std::int64_t state : { 6, 3, 6 }) {
        const auto done = p.undo();
        ASSERT_TRUE(done) << done.error().text;
        EXPECT_FALSE(done->wasThere);
        EXPECT_EQ(p.rootOfStep(done->step).value_or("none"), p.rootOfCheckpoint(state));
    }
}

TEST_P(RollBackOf, TrainingGoesOnBehindIt)
{
    RollingBack p(GetParam());
    ASSERT_TRUE(p.run(3));
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_EQ(publisher->headStep(), 7);
    const auto next = p.publish(*publisher, 8, 3);
    ASSERT_TRUE(next) << next.error().text;
    EXPECT_EQ(p.rootOfStep(8).value_or("none"), p.rootOfCheckpoint(8));
}

TEST(RollBack, ARunThatChangedSinceThePlanIsLeftAlone)
{
    RollingBack p;
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned);
    p.publishAll(7, 7);
    const std::vector<std::string> before = p.keys();
    const auto refused = p.run(3, planned->act.hash());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Exists);
    EXPECT_EQ(p.keys(), before);
    EXPECT_TRUE(p.phases().empty());
}

TEST(RollBack, WhoeverHoldsTheLeaseIsNotDisturbed)
{
    RollingBack p;
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned);
    const auto publisher = p.open();
    ASSERT_TRUE(publisher);
    for (const Error& refused : { p.plan(3).error(), p.run(3, planned->act.hash()).error() }) {
        EXPECT_EQ(refused.code, Code::Exists);
        EXPECT_NE(refused.text.find("lease"), std::string::npos) << refused.text;
        EXPECT_FALSE(refused.remedyText().empty());
    }
}

TEST(RollBack, ATrainerThatPublishedJustNowIsNotDisturbed)
{
    RollingBack p;
    const std::int64_t newest = (*p.Publishing::run->stat("deltas/step_000006.safetensors", p.task)).modifiedUs;
    p.now = newest + test::Second;
    const auto refused = p.plan(3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Exists);
    EXPECT_NE(refused.error().text.find("came 1 s ago"), std::string::npos) << refused.error().text;
    p.now = newest - 3600 * test::Second;
    const auto future = p.plan(3);
    ASSERT_FALSE(future);
    EXPECT_EQ(future.error().code, Code::Exists);
    EXPECT_NE(future.error().text.find("3600 s in the future"), std::string::npos) << future.error().text;
    EXPECT_NE(future.error().remedyText().find("clock"), std::string::npos) << future.error().remedyText();
    p.now = newest + 3600 * test::Second;
    EXPECT_TRUE(p.plan(3));
}

TEST(RollBack, CanBeTakenBackAtOnce)
{
    RollingBack p;
    ASSERT_TRUE(p.run(3));
    p.now = p.view().find(7)->objects.publishedUs() + test::Second;
    const auto back = p.run(6);
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(back->step, 8);
}

TEST(RollBack, AWriterAtTheSameTimeIsNoticedAndNothingOfOursStays)
{
    RollingBack p;
    const auto hooked = std::make_shared<HookedStore>(p.Publishing::run);
    p.source = hooked;
    hooked->onPut = [&](const std::string& key) {
        if (key != "deltas/step_000007.safetensors")
            return;
        const auto foreign = readWhole(*p.Publishing::run, "deltas/step_000006.safetensors", 1 << 20, p.task);
        ASSERT_TRUE(foreign);
        ASSERT_TRUE(p.Publishing::run->put("deltas/step_000008.safetensors", MemoryPayload(*foreign), PutMode::Replace,
                                           p.task));
    };
    const auto refused = p.run(3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Exists);
    EXPECT_NE(refused.error().text.find("two writers"), std::string::npos) << refused.error().text;
    const std::vector<std::string> keys = p.keys();
    EXPECT_EQ(std::count(keys.begin(), keys.end(), "deltas/step_000007.safetensors"), 0);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), "deltas/step_000008.safetensors"), 1);
    EXPECT_EQ(p.phases(), (std::vector<std::string> { "begun", "failed" }));
}

TEST(RollBack, WhoeverComesBeforeItsEndLeavesTheLastWordToIt)
{
    RollingBack p;
    const auto hooked = std::make_shared<HookedStore>(p.Publishing::run);
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned);
    bool wasThere = false;
    hooked->onPut = [&](const std::string& key) {
        if (key != "deltas/step_000007.safetensors")
            return;
        p.source = p.Publishing::run;
        const auto other = p.run(3, planned->act.hash());
        ASSERT_TRUE(other) << other.error().text;
        wasThere = other->wasThere;
    };
    p.source = hooked;
    const auto done = p.run(3, planned->act.hash());
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_TRUE(wasThere);
    EXPECT_EQ(p.phases(), (std::vector<std::string> { "begun", "done" }));
}

/// Each put that it makes fails once: the old state or the new one, and the same call goes on.
TEST_P(RollBackOf, AFailureAtAnyPutLeavesTheOldStateOrTheNewOne)
{
    for (std::uint64_t nth = 1;; ++nth) {
        RollingBack p(GetParam());
        const std::vector<std::string> before = p.keys();
        const auto faulty = std::make_shared<test::FaultyStore>(p.Publishing::run);
        p.source = faulty;
        const auto planned = p.plan(3);
        ASSERT_TRUE(planned);
        faulty->failNth(test::StoreOperation::Put, nth, Error { Code::NoSpace, "full", {}, {}, {} });
        const auto outcome = p.run(3, planned->act.hash());
        if (faulty->faults() == 0) {
            ASSERT_TRUE(outcome);
            EXPECT_GT(nth, 3U) << "lease, journal and step are puts";
            break;
        }
        faulty->clearFaults();
        const bool isOld = p.rootOfStep(7).value_or("none") == "none";
        if (outcome) {
            EXPECT_FALSE(isOld) << nth;
            continue;
        }
        if (isOld) {
            std::vector<std::string> keys = p.keys();
            std::erase_if(keys, [](const std::string& key) { return key.starts_with("weight_v000007/"); });
            EXPECT_EQ(keys, before) << nth;
        }
        const auto again = p.run(3);
        ASSERT_TRUE(again) << nth << ": " << again.error().text;
        EXPECT_EQ(again->wasThere, !isOld) << nth;
        EXPECT_EQ(p.rootOfStep(7).value_or("none"), p.rootOfCheckpoint(3)) << nth;
        EXPECT_EQ(p.phases().back(), "done") << nth;
        const auto once = p.run(3);
        ASSERT_TRUE(once);
        EXPECT_TRUE(once->wasThere);
    }
}

TEST_P(RollBackOf, IsSaidToBePublishedWhereTheSourceIsLostBehindIt)
{
    for (const Code code : { Code::Transient, Code::Auth }) {
        RollingBack p(GetParam());
        const auto faulty = std::make_shared<test::FaultyStore>(p.Publishing::run);
        const auto hooked = std::make_shared<HookedStore>(faulty);
        p.source = hooked;
        const auto planned = p.plan(3);
        ASSERT_TRUE(planned);
        hooked->onPut = [&](const std::string& key) {
            if (key.ends_with("000007.safetensors") || key.ends_with("000007/model.safetensors.index.json"))
                faulty->failNth(test::StoreOperation::List, 1, Error { code, "no answer", {}, {}, {} },
                                test::Repeat::Forever);
        };
        const auto outcome = p.run(3, planned->act.hash());
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, code);
        EXPECT_EQ(outcome.error().text.substr(0, 20), "step 7 is published,") << outcome.error().text;
        EXPECT_EQ(outcome.error().step, 7);
        faulty->clearFaults();
        hooked->onPut = {};
        EXPECT_EQ(p.phases(), std::vector<std::string> { "begun" }) << "it has not failed";
        const auto again = p.run(3);
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_TRUE(again->wasThere);
        EXPECT_EQ(p.phases(), (std::vector<std::string> { "begun", "done" }));
    }
}

/// Each put of an undo fails once: the same undo again finishes it, and does not take back what it did.
TEST_P(RollBackOf, AnUndoThatFailedIsFinishedByTheNext)
{
    for (std::uint64_t nth = 1;; ++nth) {
        RollingBack p(GetParam());
        ASSERT_TRUE(p.run(3));
        const auto faulty = std::make_shared<test::FaultyStore>(p.Publishing::run);
        p.source = faulty;
        faulty->failNth(test::StoreOperation::Put, nth, Error { Code::NoSpace, "full", {}, {}, {} });
        const auto outcome = p.undo();
        if (faulty->faults() == 0) {
            EXPECT_GT(nth, 3U) << "lease, journal and step are puts";
            break;
        }
        faulty->clearFaults();
        if (!outcome) {
            const auto again = p.undo();
            ASSERT_TRUE(again) << nth << ": " << again.error().text;
        }
        EXPECT_EQ(p.rootOfStep(8).value_or("none"), p.rootOfCheckpoint(6)) << nth;
        EXPECT_FALSE(p.view().find(9)) << nth;
        EXPECT_EQ(p.phases().back(), "done") << nth;
    }
}

/// An operator who wants the later state after all: what did not come to its end was no undo, so an undo takes it back.
TEST(RollBack, AnUndoTakesBackARollBackThatFailedBehindItsPut)
{
    RollingBack p;
    const auto faulty = std::make_shared<test::FaultyStore>(p.Publishing::run);
    p.source = faulty;
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned);
    for (std::uint64_t nth = 1; !p.view().find(7); ++nth) {
        faulty->failNth(test::StoreOperation::Put, nth, Error { Code::NoSpace, "full", {}, {}, {} });
        ASSERT_FALSE(p.run(3, planned->act.hash()));
        faulty->clearFaults();
    }
    ASSERT_NE(p.phases().back(), "done");
    const auto undone = p.undo();
    ASSERT_TRUE(undone) << undone.error().text;
    EXPECT_EQ(undone->step, 8);
    EXPECT_EQ(p.rootOfStep(8).value_or("none"), p.rootOfCheckpoint(6));
}

TEST(RollBack, AStateThatTheLayoutCannotCarryIsRefusedInThePlan)
{
    Publishing p;
    p.options.anchorEvery = 1; // anchors carry every type
    for (std::int64_t step = 1; step <= 2; ++step) {
        std::vector<FileTensor> tensors = Publishing::tensorsOf(step);
        tensors.push_back({ tensor("c", { 4 }, Dtype::F32), std::string(16, static_cast<char>(step)) });
        ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(step), safetensorsFile(tensors)));
    }
    p.publishAll(1, 2);
    const auto plan = planRollBack(p.bench, p.run, p.base, Publishing::step(1), p.task);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::Unsupported) << plan.error().text;
    EXPECT_NE(plan.error().text.find("\"c\" changed and is F32"), std::string::npos) << plan.error().text;
    EXPECT_NE(plan.error().action.find("materialize"), std::string::npos) << plan.error().action;
}

TEST(RollBack, AStateWithSuspectValuesIsNamedInThePlan)
{
    Publishing p;
    p.options.allowSuspect = true;
    p.publishAll(1, 2);
    std::vector<FileTensor> broken = Publishing::tensorsOf(3);
    storeLe<std::uint16_t>(writable(broken.front().data), 0, Nan);
    ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(3), safetensorsFile(broken)));
    p.publishAll(3, 4);
    const auto planned = [&](std::int64_t step) {
        return planRollBack(p.bench, p.run, p.base, Publishing::step(step), p.task);
    };
    const auto plan = planned(3);
    ASSERT_TRUE(plan) << plan.error().text;
    ASSERT_EQ(plan->act.warnings.size(), 1U);
    EXPECT_EQ(plan->act.warnings.front().code, Code::SuspectValues) << plan->act.warnings.front().text;
    ASSERT_TRUE(planned(2));
    EXPECT_TRUE(planned(2)->act.warnings.empty());
}

TEST_P(RollBackOf, ADamagedHeadIsRefusedInThePlan)
{
    for (const bool isDone : { false, true }) {
        RollingBack p(GetParam());
        if (isDone) {
            ASSERT_TRUE(p.run(3));
        }
        ASSERT_TRUE(p.plan(3)) << "sound";
        const deltascope::Run now = p.view();
        std::string key;
        for (const ObjectInfo& object : now.versions.back().objects.objects)
            key = object.key.ends_with(".safetensors") ? object.key : key;
        std::string bytes = readObject(*p.source, key);
        bytes[bytes.size() - 2] ^= 1;
        ASSERT_TRUE(putText(*p.source, key, bytes));
        const auto plan = p.plan(3);
        ASSERT_FALSE(plan) << isDone;
        EXPECT_NE(plan.error().text.find("a roll back is a delta from the newest step"), std::string::npos)
            << plan.error().text;
    }
}

/// One tensor has two names in the run: no step is verified, and each can be restored.
TEST(RollBack, BehindWhatForbidsTrustTheRootTellsWhatWasWritten)
{
    const GoldenCopy golden("slime-v2-dup-name");
    Session session;
    session.openRecords();
    session.bench.nowUs = [] { return test::LongAfter; };
    OpenOptions options;
    options.base = golden.base;
    const auto plan = planRollBack(session.bench, golden.store, options, Publishing::step(1), session.task);
    ASSERT_TRUE(plan) << plan.error().text;
    const auto done = rollBack(session.bench, golden.store, options, Publishing::step(1),
                               { plan->act.hash(), "kim@host" }, session.task);
    ASSERT_TRUE(done) << done.error().text;
    const auto again = planRollBack(session.bench, golden.store, options, Publishing::step(1), session.task);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_TRUE(again->isDone);
}

TEST(RollBack, AStepOfAnEarlierEpochIsRefusedWithAWayOut)
{
    RollingBack p;
    p.options.newEpoch = true;
    p.publishAll(7, 8);
    const std::vector<std::string> before = p.keys();
    const auto plan = p.plan(3);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::Unsupported) << plan.error().text;
    EXPECT_EQ(plan.error().text, "step 3 is one of epoch 0, and a roll back restores a step of the newest epoch, 1");
    EXPECT_TRUE(plan.error().action.starts_with("deltascope branch " + p.source->uri() + "@0:3 --into "))
        << plan.error().action;
    EXPECT_EQ(p.run(3, "any").error().code, Code::Unsupported);
    EXPECT_EQ(p.keys(), before);
    const auto done = p.run(7);
    ASSERT_TRUE(done) << done.error().text;
    p.now = p.view().versions.back().objects.publishedUs() + test::Second;
    const auto undone = p.undo();
    EXPECT_TRUE(undone) << undone.error().text;
}

TEST(RollBack, WhereThereIsNothingToDoItSaysSo)
{
    RollingBack p;
    EXPECT_EQ(p.plan(6).error().code, Code::Usage);
    EXPECT_EQ(p.plan(60).error().code, Code::NotFound);
    ASSERT_TRUE(p.run(3));
    const auto planned = p.plan(3);
    ASSERT_TRUE(planned);
    EXPECT_TRUE(planned->isDone);
}
}
} // namespace deltascope
