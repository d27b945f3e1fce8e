#include "deltascope/engine/publish_step.h"

#include "publish_fixture.h"
#include "support/counting_store.h"
#include "support/forwarding_store.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <map>
#include <set>

// The plan of a step that is published, held against what the stores are asked for, and when it is refused.

namespace deltascope {
namespace {

using namespace layout_test;
using test::CountingStore;

using Keys = std::vector<std::string>;

bool isBeside(std::string_view key) { return key.starts_with(".deltascope/"); }

/// A store under an address of its own.
class NamedStore final : public test::ForwardingStore {
public:
    NamedStore(std::shared_ptr<ObjectStore> store, std::string uri)
        : ForwardingStore(std::move(store))
        , m_uri(std::move(uri))
    {
    }
    std::string uri() const override { return m_uri; }

private:
    std::string m_uri;
};

/// Takes down what is put and removed.
class ChangesStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        (isBeside(key) ? beside : puts).emplace_back(key);
        return ForwardingStore::put(key, bytes, mode, task);
    }
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override
    {
        for (const ObjectRef& object : objects) {
            if (!isBeside(object.key))
                removals.emplace_back(object.key);
        }
        return ForwardingStore::remove(objects, task);
    }
    Keys puts, removals, beside;
};

struct PlannedStep : Publishing {
    explicit PlannedStep(std::string layout = "trl-v2")
        : Publishing(std::move(layout))
    {
        auto opened = Catalog::open(folder.path("catalog.sqlite"));
        EXPECT_TRUE(opened);
        catalog = std::move(*opened);
        bench.catalog = catalog.get(); // keeps how a base fits its run
        if (!base.base)
            return;
        readOfBase = std::make_shared<CountingStore>(base.base);
        base.base = std::make_shared<NamedStore>(readOfBase, "memory:base");
    }

    Result<PublishPlan> plan(std::int64_t from, std::int64_t to)
    {
        return planPublish(bench, into, base, between(from, to, named), options, task);
    }
    Result<std::vector<PublishedVersion>> carryOut(std::int64_t from, std::int64_t to, const std::string& hash)
    {
        return publishStep(bench, into, base, between(from, to, named), options, hash, task);
    }
    /// Plans the step, carries it out, and compares what the stores were asked for.
    void expectAsPlanned(std::int64_t from, std::int64_t to)
    {
        drop(from);
        drop(to);
        const Keys before = keys();
        const auto planned = plan(from, to);
        ASSERT_TRUE(planned) << planned.error().text;
        EXPECT_EQ(keys(), before) << "a plan writes nothing";
        EXPECT_TRUE(into->puts.empty() && into->beside.empty());
        const StepToPublish step = between(from, to, named);
        source->clear();
        readOfRun->clear();
        if (readOfBase)
            readOfBase->clear();
        const auto done = publishStep(bench, into, base, step, options, planned->act.hash(), task);
        ASSERT_TRUE(done) << done.error().text;
        EXPECT_EQ(into->puts, writesOf(planned->act));
        EXPECT_TRUE(into->removals.empty());
        EXPECT_TRUE(planned->act.deletes.empty());
        EXPECT_EQ(weightsRead(*source), wholeReads(planned->act, named->uri()));
        EXPECT_EQ(weightsRead(*readOfRun), wholeReads(planned->act, {}));
        if (readOfBase) {
            EXPECT_EQ(weightsRead(*readOfBase), wholeReads(planned->act, "memory:base"));
        }
        EXPECT_EQ(besideOf(into->beside), besideOf(planned->act));
        std::vector<std::int64_t> steps;
        for (const PublishedVersion& version : *done)
            steps.push_back(version.step);
        std::vector<std::int64_t> due;
        for (const DueVersion& version : planned->versions)
            due.push_back(version.step);
        EXPECT_EQ(steps, due);
        into->puts.clear();
        into->beside.clear();
    }

    static Keys writesOf(const ActPlan& plan)
    {
        Keys keys;
        for (const PlannedObject& object : plan.writes)
            keys.push_back(object.key);
        return keys;
    }
    /// Of a store: the objects that are read beyond their headers.
    static std::set<std::string> wholeReads(const ActPlan& plan, const std::string& store)
    {
        std::set<std::string> keys;
        for (const PlannedObject& object : plan.reads) {
            if (object.store == store && object.bytes > 0)
                keys.insert(object.key);
        }
        return keys;
    }
    static std::set<std::string> weightsRead(const CountingStore& store)
    {
        std::set<std::string> keys;
        for (const CountingStore::Read& read : store.reads()) {
            if (!isBeside(read.key) && isPayload(read.offset))
                keys.insert(read.key);
        }
        return keys;
    }
    using ByKind = std::map<std::string, std::size_t>;
    static ByKind besideOf(const ActPlan& plan)
    {
        ByKind kinds;
        for (const PlannedEffect& effect : plan.beside)
            kinds[effect.fact] = std::stoul(effect.value);
        return kinds;
    }
    static ByKind besideOf(const Keys& puts)
    {
        ByKind kinds;
        for (const std::string& key : std::set<std::string>(puts.begin(), puts.end())) {
            const std::string rest = key.substr(std::string(".deltascope/v1/").size());
            ++kinds[rest.substr(0, rest.find('/'))];
        }
        return kinds;
    }

    test::TempDir folder;
    std::unique_ptr<Catalog> catalog;
    std::shared_ptr<CountingStore> source = std::make_shared<CountingStore>(checkpoints);
    std::shared_ptr<ObjectStore> named = std::make_shared<NamedStore>(source, "memory:checkpoints");
    std::shared_ptr<CountingStore> readOfRun = std::make_shared<CountingStore>(Publishing::run);
    std::shared_ptr<CountingStore> readOfBase; ///< null: the layout has no base
    std::shared_ptr<ChangesStore> into = std::make_shared<ChangesStore>(readOfRun);
};

class PlanOfPublish : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, PlanOfPublish, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& param) { return std::string(param.param, 3); });

TEST_P(PlanOfPublish, IsWhatTheStoresAreAskedFor)
{
    PlannedStep p(GetParam());
    p.drop(0);
    p.expectAsPlanned(p.base.base ? 0 : 1, 2); // the run begins
    p.expectAsPlanned(2, 3);
    p.expectAsPlanned(3, 4);
}

TEST_P(PlanOfPublish, IsRefusedOnceTheRunGrew)
{
    PlannedStep p(GetParam());
    const std::int64_t first = p.base.base ? 0 : 1;
    ASSERT_TRUE(p.carryOut(first, 2, {}));
    const auto planned = p.plan(2, 3);
    ASSERT_TRUE(planned);
    ASSERT_TRUE(p.carryOut(2, 4, {}));
    const Keys before = p.keys();
    const auto refused = p.carryOut(2, 3, planned->act.hash());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Exists);
    EXPECT_TRUE(isOfStalePlan(refused.error()));
    EXPECT_EQ(p.keys(), before);
}

TEST_P(PlanOfPublish, IsRefusedOnceAStateWasWrittenAgain)
{
    for (const std::int64_t changed : { 2, 3 }) {
        SCOPED_TRACE(changed);
        PlannedStep p(GetParam());
        ASSERT_TRUE(p.carryOut(p.base.base ? 0 : 1, 2, {}));
        const auto planned = p.plan(2, 3);
        ASSERT_TRUE(planned);
        const Keys before = p.keys();
        ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(changed), Publishing::fileOf(7)));
        const StepToPublish step = p.between(2, 3, p.named);
        p.source->clear();
        const auto refused = publishStep(p.bench, p.into, p.base, step, p.options, planned->act.hash(), p.task);
        ASSERT_FALSE(refused);
        EXPECT_TRUE(isOfStalePlan(refused.error())) << refused.error().text;
        EXPECT_EQ(p.keys(), before);
        EXPECT_TRUE(p.source->reads().empty()) << "the plan is compared before anything is read";

        p.drop(changed); // what it was: but another object
        const auto again = p.plan(2, 3);
        ASSERT_TRUE(again);
        EXPECT_TRUE(p.carryOut(2, 3, again->act.hash())) << "a plan of what is there now is carried out";
    }
}

TEST_P(PlanOfPublish, IsRefusedOnceTheNewestStepWasWrittenAgain)
{
    PlannedStep p(GetParam());
    ASSERT_TRUE(p.carryOut(p.base.base ? 0 : 1, 2, {}));
    const auto planned = p.plan(2, 3);
    ASSERT_TRUE(planned);
    const std::string key = p.keys().back();
    ASSERT_TRUE(putText(*p.Publishing::run, key, readObject(*p.Publishing::run, key)));
    EXPECT_TRUE(isOfStalePlan(errorOf(p.carryOut(2, 3, planned->act.hash()))));
}

TEST(PlanOfPublishing, OfAnAnchorAndOfANewEpochIsWhatTheStoresAreAskedFor)
{
    PlannedStep p;
    p.options.anchorEvery = 2;
    p.expectAsPlanned(1, 2);
    const auto planned = p.plan(2, 3);
    ASSERT_TRUE(planned);
    EXPECT_EQ(PlannedStep::writesOf(planned->act), Keys { "anchors/step_000003.safetensors" });
    EXPECT_FALSE(planned->versions.at(0).anchorReason.empty());
    p.expectAsPlanned(2, 3);
    p.options.newEpoch = true;
    p.expectAsPlanned(1, 4);
    p.expectAsPlanned(1, 5); // the newest begins an epoch, and may be the step already
}

TEST(PlanOfPublishing, NamesTheStateOfARunThatRecordsNoRoots)
{
    PlannedStep p;
    ASSERT_TRUE(p.carryOut(1, 2, {}));
    for (const std::string& key : p.keys()) {
        std::string bytes = readObject(*p.Publishing::run, key);
        for (std::size_t at = bytes.find("\"ds."); at != std::string::npos; at = bytes.find("\"ds.", at))
            bytes.replace(at, 4, "\"xx.");
        ASSERT_TRUE(putText(*p.Publishing::run, key, bytes));
    }
    p.into->puts.clear();
    p.into->beside.clear();
    const auto planned = p.plan(2, 3);
    ASSERT_TRUE(planned);
    EXPECT_EQ(PlannedStep::wholeReads(planned->act, {}).size(), 2U) << "it is compared with the state to publish from";
    p.expectAsPlanned(2, 3);
}

TEST(PlanOfPublishing, IsOfItsPlaceAndItsOptions)
{
    PlannedStep p;
    ASSERT_TRUE(p.carryOut(1, 2, {}));
    const std::string hash = p.plan(2, 3)->act.hash();
    EXPECT_EQ(p.plan(2, 3)->act.hash(), hash);
    EXPECT_NE(p.plan(2, 4)->act.hash(), hash);
    p.options.encoding = "raw";
    EXPECT_NE(p.plan(2, 3)->act.hash(), hash);
    p.options.encoding.clear();
    StepToPublish elsewhere = p.between(2, 3, p.named);
    elsewhere.into = "another place";
    EXPECT_NE(planPublish(p.bench, p.into, p.base, elsewhere, p.options, p.task)->act.hash(), hash);
}

TEST(PlanOfPublishing, OfAFolderThatIsNotThereIsThatOfAnEmptyOne)
{
    PlannedStep p;
    const StepToPublish step = p.between(1, 2, p.named);
    const auto absent = planPublish(p.bench, nullptr, p.base, step, p.options, p.task);
    ASSERT_TRUE(absent) << absent.error().text;
    EXPECT_FALSE(absent->head);
    ASSERT_TRUE(p.carryOut(1, 2, absent->act.hash()));
}

TEST(PlanOfPublishing, OfAStepThatIsThereIsCarriedOutWithoutAPut)
{
    PlannedStep p;
    ASSERT_TRUE(p.carryOut(1, 2, {}));
    p.into->puts.clear();
    const auto planned = p.plan(1, 2);
    ASSERT_TRUE(planned);
    const auto& unknown = planned->act.unknown;
    EXPECT_TRUE(std::any_of(unknown.begin(), unknown.end(), [](const std::string& text) {
        return text.find("step 2 is this one already") != std::string::npos;
    }));
    const auto done = p.carryOut(1, 2, planned->act.hash());
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_TRUE(done->front().wasThere);
    EXPECT_TRUE(p.into->puts.empty());
}

TEST(PlanOfPublishing, OfStatesWithOtherTensorsIsRefused)
{
    PlannedStep p;
    p.drop(1);
    auto tensors = Publishing::tensorsOf(2);
    tensors.pop_back();
    ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(2), safetensorsFile(tensors)));
    EXPECT_EQ(errorOf(p.plan(1, 2)).code, Code::BaseMismatch);
    EXPECT_TRUE(p.plan(1, 3));
}

} // namespace
} // namespace deltascope
