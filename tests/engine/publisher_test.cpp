#include "publish_fixture.h"
#include "support/any_task.h"
#include "support/forwarding_store.h"

#include <functional>
#include <vector>

// Publisher: what versions say about themselves, when they are anchors, and when nothing is put.

namespace deltascope {
namespace {

using namespace layout_test;
using EngineRun = deltascope::Run;

class PublisherOf : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, PublisherOf, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& param) { return std::string(param.param, 3); });

std::vector<std::int64_t> anchorsOf(Publishing& p)
{
    std::vector<std::int64_t> steps;
    for (const Version& version : p.view().versions) {
        if (version.kind == VersionKind::Anchor)
            steps.push_back(version.step());
    }
    return steps;
}

// --- facts -----------------------------------------------------------------------------------------------------------

TEST_P(PublisherOf, EveryVersionSaysWhatItIsMadeOf)
{
    Publishing p(GetParam());
    p.publishAll(1, 4);
    const bool external = p.base.base != nullptr;
    EXPECT_EQ(p.factOf(1, fact::Run).size(), 32U);
    for (std::int64_t step = 1; step <= 4; ++step) {
        EXPECT_EQ(p.factOf(step, fact::Form), "1");
        EXPECT_EQ(p.factOf(step, fact::Run), p.factOf(1, fact::Run));
        EXPECT_EQ(p.factOf(step, fact::Origin), Publishing::originOf(step));
        EXPECT_EQ(p.factOf(step, fact::Root), p.rootOfCheckpoint(step));
        EXPECT_EQ(p.factOf(step, fact::Base), step > 1 || external ? p.rootOfCheckpoint(step - 1) : "");
        EXPECT_EQ(p.rootOfStep(step).value_or("none"), p.rootOfCheckpoint(step));
    }
}

TEST_P(PublisherOf, TheReportCountsWhatChanged)
{
    Publishing p(GetParam());
    p.publishAll(1, 1);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    EXPECT_EQ(publisher->headStep(), 1);
    EXPECT_EQ(publisher->headOrigin(), "checkpoint-1");
    const auto version = p.publish(*publisher, 2, 1);
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_EQ(version->step, 2);
    EXPECT_FALSE(version->anchor);
    EXPECT_EQ(version->changedElements, 10U);
    EXPECT_EQ(version->totalElements, 64U * 8 + 300);
    EXPECT_EQ(version->anchorReason, "");
    ASSERT_FALSE(version->objects.empty());
    EXPECT_EQ(publisher->headStep(), 2);
    EXPECT_EQ(publisher->headOrigin(), "checkpoint-2");
}

TEST_P(PublisherOf, ContinuingKeepsTheRun)
{
    Publishing p(GetParam());
    p.publishAll(1, 2);
    p.publishAll(3, 4);
    EXPECT_EQ(p.factOf(4, fact::Run), p.factOf(1, fact::Run));
    EXPECT_EQ(p.view().epochs(), 1);
    EXPECT_EQ(p.rootOfStep(4).value_or("none"), p.rootOfCheckpoint(4));
}

TEST_P(PublisherOf, TwoRunsHaveTwoNames)
{
    Publishing p(GetParam());
    Publishing q(GetParam());
    p.publishAll(1, 1);
    q.publishAll(1, 1);
    EXPECT_NE(p.factOf(1, fact::Run), q.factOf(1, fact::Run));
}

// --- anchors ---------------------------------------------------------------------------------------------------------

TEST(Publisher, AnchorsByCadenceAlsoAcrossRestarts)
{
    using Steps = std::vector<std::int64_t>;
    for (const auto& [every, wanted] :
         { std::pair<std::uint32_t, Steps> { 1, { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, { 4, { 1, 5, 9 } }, { 0, { 1 } } }) {
        for (const std::int64_t perProcess : { 9, 1, 2 }) {
            Publishing p;
            p.options.anchorEvery = every;
            for (std::int64_t step = 1; step <= 9; step += perProcess)
                p.publishAll(step, std::min<std::int64_t>(9, step + perProcess - 1));
            EXPECT_EQ(anchorsOf(p), wanted) << "every " << every << ", " << perProcess << " by each process";
            EXPECT_EQ(p.rootOfStep(9).value_or("none"), p.rootOfCheckpoint(9));
        }
    }
}

TEST(Publisher, AnAnchorComesWhenItIsCheaper)
{
    Publishing p;
    p.options.anchorWhenCheaper = true;
    p.options.restoresPerAnchor = 1000;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    ASSERT_TRUE(p.publish(*publisher, 2));
    const auto third = p.publish(*publisher, 3);
    ASSERT_TRUE(third);
    EXPECT_TRUE(third->anchor); // a delta of many bytes was read a thousand times
    EXPECT_FALSE(third->anchorReason.empty());
    EXPECT_NE(third->anchorReason.find("1000"), std::string::npos) << third->anchorReason;
    const auto fourth = p.publish(*publisher, 4);
    ASSERT_TRUE(fourth);
    EXPECT_FALSE(fourth->anchor); // the sum begins anew
}

TEST(Publisher, ADeltaThatIsRarelyReadIsCheaper)
{
    Publishing p;
    p.options.anchorWhenCheaper = true;
    p.options.restoresPerAnchor = 0;
    p.publishAll(1, 6);
    EXPECT_EQ(anchorsOf(p), std::vector<std::int64_t> { 1 });
}

TEST(Publisher, AnAnchorStillNeedsTheNewestState)
{
    Publishing p;
    p.options.anchorEvery = 1;
    p.publishAll(1, 2);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const auto before = p.keys();
    EXPECT_EQ(errorOf(p.publish(*publisher, 3, 1)).code, Code::BaseMismatch);
    EXPECT_EQ(p.keys(), before);
    EXPECT_TRUE(p.publish(*publisher, 3, 2));
}

// --- another epoch ---------------------------------------------------------------------------------------------------

TEST(Publisher, ANewEpochBeginsBehindTheRun)
{
    Publishing p;
    p.publishAll(1, 3);
    p.options.newEpoch = true;
    {
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        EXPECT_EQ(publisher->headOrigin(), "");
        const auto first = p.publish(*publisher, 9);
        ASSERT_TRUE(first) << first.error().text;
        EXPECT_EQ(first->step, 4); // numbers go on
        EXPECT_TRUE(first->anchor);
        EXPECT_FALSE(first->anchorReason.empty());
        const auto second = p.publish(*publisher, 10, 9);
        ASSERT_TRUE(second);
        EXPECT_FALSE(second->anchor);
    }
    const EngineRun run = p.view();
    ASSERT_EQ(run.epochs(), 2);
    ASSERT_EQ(run.versions.size(), 5U);
    for (const Version& version : run.versions) {
        EXPECT_EQ(version.epoch, version.step() < 4 ? 0 : 1);
        EXPECT_FALSE(version.obstacle);
        if (version.base) {
            EXPECT_EQ(run.versions[*version.base].epoch, version.epoch);
        }
    }
    EXPECT_TRUE(run.problems.empty()) << run.problems.front().text;
    EXPECT_NE(p.factOf(4, fact::Run), p.factOf(3, fact::Run));
    EXPECT_EQ(p.factOf(5, fact::Run), p.factOf(4, fact::Run));
    EXPECT_EQ(p.rootOfStep(3).value_or("none"), p.rootOfCheckpoint(3));
    EXPECT_EQ(p.rootOfStep(5).value_or("none"), p.rootOfCheckpoint(10));

    p.options.newEpoch = false; // goes on with the newest epoch
    p.publishAll(11, 11);
    EXPECT_EQ(p.view().epochs(), 2);
    EXPECT_EQ(p.factOf(6, fact::Run), p.factOf(5, fact::Run));
    EXPECT_EQ(p.rootOfStep(6).value_or("none"), p.rootOfCheckpoint(11));
}

TEST(Publisher, AnAnchorWithinAnEpochIsOfTheSameModelWhateverIsJudged)
{
    for (const bool allowSuspect : { false, true }) {
        for (const bool withFrom : { false, true }) {
            SCOPED_TRACE(fmt::format("{} {}", allowSuspect, withFrom));
            Publishing p;
            p.options.anchorEvery = 2;
            p.options.allowSuspect = allowSuspect;
            p.publishAll(1, 2);
            ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(8),
                                safetensorsFile({ { tensor("other", { 64, 8 }), std::string(1024, 'x') } })));
            const std::optional<std::int64_t> from = withFrom ? std::optional<std::int64_t>(2) : std::nullopt;
            auto publisher = p.open();
            ASSERT_TRUE(publisher);
            const auto before = p.keys();
            const Error error = errorOf(p.publish(*publisher, 8, from));
            EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
            EXPECT_EQ(p.keys(), before);
            const auto sound = p.publish(*publisher, 3, from);
            ASSERT_TRUE(sound) << sound.error().text;
            EXPECT_TRUE(sound->anchor);
        }
    }
    Publishing p; // another epoch may be of another model
    p.options.allowSuspect = true;
    p.publishAll(1, 2);
    ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(8),
                        safetensorsFile({ { tensor("other", { 64, 8 }), std::string(1024, 'x') } })));
    p.options.newEpoch = true;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const auto begun = p.publish(*publisher, 8);
    ASSERT_TRUE(begun) << begun.error().text;
    EXPECT_TRUE(begun->anchor);
}

TEST(Publisher, WhatTheLayoutCannotSayIsUsage)
{
    Publishing p("slime-v2");
    p.options.newEpoch = true;
    EXPECT_EQ(errorOf(p.open()).code, Code::Usage);
    p.options.newEpoch = false;
    p.options.anchorWhenCheaper = true;
    EXPECT_EQ(errorOf(p.open()).code, Code::Usage);
    p.options.anchorWhenCheaper = false;
    p.options.layout = "hf";
    EXPECT_EQ(errorOf(p.open()).code, Code::Usage);
    EXPECT_TRUE(p.keys().empty());
}

TEST(Publisher, AFolderOfSomethingElseIsRefusedWithAWayOut)
{
    Publishing p;
    ASSERT_TRUE(putText(*p.run, Publishing::keyOf(1), Publishing::fileOf(1)));
    const Error error = errorOf(p.open());
    EXPECT_EQ(error.code, Code::Layout);
    EXPECT_EQ(error.text, "of its 1 object none has a name that trl-v2 gives");
    EXPECT_EQ(error.action, "publish into an empty folder, or into one that holds a run in trl-v2");
}

TEST(Publisher, ARunOfAnotherLayoutIsNotContinued)
{
    Publishing p;
    p.publishAll(1, 2);
    const auto before = p.keys();
    p.options.layout = "slime-v2";
    EXPECT_EQ(errorOf(p.open()).code, Code::Usage);
    EXPECT_EQ(p.keys(), before);
}

/// A checkpoint as a model repository of the Hub shows it.
class HubModelStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    std::string uri() const override { return "hf://org/model?revision=main"; }
    Result<std::string> revision(TaskContext&) const override { return std::string("0123abcd"); }
};

TEST(Publisher, TheFirstDeltaSaysWhichModelOfTheHubItBuildsOn)
{
    Publishing p("slime-v2");
    p.base.base = std::make_shared<HubModelStore>(p.base.base);
    p.publishAll(1, 3);
    EXPECT_EQ(p.factOf(1, fact::BaseModel), "org/model@0123abcd");
    EXPECT_EQ(p.factOf(2, fact::BaseModel), "");
    Publishing plain("slime-v2");
    plain.publishAll(1, 2);
    EXPECT_EQ(plain.factOf(1, fact::BaseModel), "");
}

// --- nothing is put --------------------------------------------------------------------------------------------------

TEST_P(PublisherOf, FromMustBeTheNewestState)
{
    Publishing p(GetParam());
    p.publishAll(1, 3);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const auto before = p.keys();
    const Error error = errorOf(p.publish(*publisher, 4, 2));
    EXPECT_EQ(error.code, Code::BaseMismatch);
    EXPECT_NE(error.text.find(p.rootOfCheckpoint(2)), std::string::npos) << error.text;
    EXPECT_NE(error.text.find(p.rootOfCheckpoint(3)), std::string::npos) << error.text;
    EXPECT_EQ(p.keys(), before);
    EXPECT_EQ(publisher->headStep(), 3);
    EXPECT_TRUE(p.publish(*publisher, 4, 3)); // it goes on after the refusal
}

TEST_P(PublisherOf, AFromOfOtherTensorsIsRefusedForThem)
{
    using Change = std::function<void(FileTensor&)>;
    const Change renames = [](FileTensor& one) { one.info.name = "_orig_mod." + one.info.name; };
    const Change widens = [](FileTensor& one) {
        one.info.dtype = Dtype::F32;
        one.data += one.data;
    };
    const Change reshapes = [](FileTensor& one) { one.info.shape.push_back(1); };
    const Change both = [&](FileTensor& one) {
        renames(one);
        widens(one);
    };
    struct Case {
        Change from, to;
        std::vector<std::string> words;
    };
    const Change keeps = [](FileTensor&) {};
    const std::string names = "the names of B begin with _orig_mod. where those of A do not";
    const std::string dtypes = "is BF16 in A and F32 in B";
    for (const Case& one : std::vector<Case> { { renames, renames, { names } },
                                               { widens, widens, { dtypes } },
                                               { widens, keeps, { dtypes } },
                                               { reshapes, reshapes, { "has the shape [" } },
                                               { both, both, { names, dtypes } } }) {
        SCOPED_TRACE(one.words.front());
        Publishing p(GetParam());
        p.publishAll(1, 2);
        const auto before = p.keys();
        const auto dropChanged = [&](std::int64_t step, const Change& change) {
            std::vector<FileTensor> tensors = Publishing::tensorsOf(step);
            for (FileTensor& tensor : tensors)
                change(tensor);
            ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(step), safetensorsFile(tensors)));
        };
        dropChanged(2, one.from);
        dropChanged(3, one.to);
        const auto expectRefusal = [&](const Error& error) {
            EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
            EXPECT_EQ(error.text.find("the state to publish from is not step 2, the newest of the run: "), 0U)
                << error.text;
            for (const std::string& words : one.words)
                EXPECT_NE(error.text.find(words), std::string::npos) << error.text;
        };
        expectRefusal(errorOf(planPublish(p.bench, p.run, p.base, p.between(2, 3), p.options, p.task)));
        expectRefusal(errorOf(publishStep(p.bench, p.run, p.base, p.between(2, 3), p.options, {}, p.task)));
        EXPECT_EQ(p.keys(), before);
    }
}

TEST_P(PublisherOf, ACheckpointThatChangesWhileItIsReadIsNotPublished)
{
    for (const std::int64_t victim : { 2, 3 }) { // what is published from, and what is published
        Publishing p(GetParam());
        p.publishAll(1, 2);
        p.drop(3);
        const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        const PathPtr from = p.state(2, hooked);
        const PathPtr to = p.state(3, hooked);
        const auto before = p.keys();
        bool rewritten = false;
        hooked->onRead = [&](std::string_view key, std::uint64_t) {
            if (key == Publishing::keyOf(victim) && !std::exchange(rewritten, true)) {
                EXPECT_TRUE(putText(*p.checkpoints, key, Publishing::fileOf(victim)));
            }
        };
        const auto refused = publisher->publish(from.get(), *to, "checkpoint-3", p.task);
        EXPECT_TRUE(rewritten);
        EXPECT_EQ(errorOf(refused).code, Code::Rewritten);
        EXPECT_EQ(p.keys(), before);
        EXPECT_EQ(publisher->headStep(), 2);
        EXPECT_TRUE(p.publish(*publisher, 3, 2)); // it is quiet now
    }
}

TEST(Publisher, AnAnchorIsTiedToWhatWasReadToo)
{
    Publishing p;
    p.drop(1);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const PathPtr to = p.state(1, hooked);
    bool rewritten = false;
    hooked->onRead = [&](std::string_view key, std::uint64_t) {
        if (!std::exchange(rewritten, true)) {
            EXPECT_TRUE(putText(*p.checkpoints, key, Publishing::fileOf(1)));
        }
    };
    EXPECT_EQ(errorOf(publisher->publish(nullptr, *to, "checkpoint-1", p.task)).code, Code::Rewritten);
    EXPECT_TRUE(p.keys().empty());
}

TEST_P(PublisherOf, AStepThatSomebodyElseTookIsRefused)
{
    Publishing p(GetParam());
    p.publishAll(1, 2);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const std::string key =
        p.base.base ? "weight_v000003/model.safetensors.index.json" : "deltas/step_000003.safetensors";
    ASSERT_TRUE(putText(*p.run, key, "not ours"));
    const auto before = p.keys();
    const Error error = errorOf(p.publish(*publisher, 3, 2));
    EXPECT_EQ(error.code, Code::Exists);
    EXPECT_EQ(error.step, 3);
    EXPECT_EQ(p.keys(), before);
    EXPECT_EQ(readObject(*p.run, key), "not ours");
}

TEST(Publisher, AnAnchorOfSomebodyElseTakesTheStepToo)
{
    Publishing p;
    p.publishAll(1, 2);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(putText(*p.run, "anchors/step_000003.safetensors", "not ours"));
    EXPECT_EQ(errorOf(p.publish(*publisher, 3, 2)).code, Code::Exists);
    EXPECT_FALSE(p.run->stat("deltas/step_000003.safetensors", test::anyTask()));
}

TEST(Publisher, NothingChangedPutsNothingInTrl)
{
    Publishing p;
    p.publishAll(1, 2);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const auto before = p.keys();
    const auto version = p.publish(*publisher, 2);
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_TRUE(version->objects.empty());
    EXPECT_EQ(p.keys(), before);
    EXPECT_EQ(publisher->headStep(), 2);
    const auto next = p.publish(*publisher, 3); // the number was not used up
    ASSERT_TRUE(next);
    EXPECT_EQ(next->step, 3);
}

TEST(Publisher, NothingChangedIsAnEmptyVersionInSlime)
{
    Publishing p("slime-v2");
    p.publishAll(1, 2);
    p.publishAll(2, 3);
    const EngineRun run = p.view();
    ASSERT_EQ(run.versions.size(), 4U);
    EXPECT_EQ(run.find(3)->state, VersionState::Noop);
    EXPECT_EQ(p.factOf(3, fact::Root), p.factOf(3, fact::Base));
    EXPECT_EQ(p.rootOfStep(3).value_or("none"), p.rootOfCheckpoint(2));
    EXPECT_EQ(p.rootOfStep(4).value_or("none"), p.rootOfCheckpoint(3));
}

TEST(Publisher, WhatADeadOneLeftOfAVersionIsReplaced)
{
    Publishing p("slime-v2");
    p.publishAll(1, 2);
    const std::string data = p.view().find(2)->objects.objects.front().key;
    ASSERT_TRUE(data.ends_with(".safetensors"));
    const std::string leftover = "weight_v000003" + data.substr(data.find('/'));
    ASSERT_TRUE(putText(*p.run, leftover, readObject(*p.run, data))); // of another state, and without its index
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_EQ(publisher->headStep(), 2);
    const auto version = p.publish(*publisher, 3);
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_EQ(version->step, 3);
    EXPECT_EQ(p.rootOfStep(3).value_or("none"), p.rootOfCheckpoint(3));
    EXPECT_EQ(p.view().versions.size(), 3U);
}

} // namespace
} // namespace deltascope
