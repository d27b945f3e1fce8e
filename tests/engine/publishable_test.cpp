#include "publish/publishable.h"

#include "publish_fixture.h"
#include "state_fixture.h"

#include <string>
#include <vector>

// What is not published although every tensor of it can be read: nothing at all, and adapters with other settings.

namespace deltascope {
namespace {

using namespace layout_test;

using Tensors = std::vector<FileTensor>;
using Names = std::vector<std::string>;

FileTensor hollow(const std::string& name) { return { tensor(name, { 0, 4 }), "" }; }

struct Checkpoints : Publishing {
    using Publishing::Publishing;
    void put(std::int64_t step, const Tensors& tensors)
    {
        ASSERT_TRUE(putText(*checkpoints, keyOf(step), safetensorsFile(tensors)));
    }
    Result<std::vector<PublishedVersion>> publishPair()
    {
        return publishStep(bench, run, base, between(1, 2), options, {}, task);
    }
    Result<PublishPlan> planPair() { return planPublish(bench, run, base, between(1, 2), options, task); }
    Result<void> follow()
    {
        DS_TRY(Publisher publisher, open());
        FollowOptions following;
        following.once = true;
        following.onVersion = [&](const PublishedVersion& version) {
            published.push_back(version.origin);
            areAdapters = version.isAdapter;
        };
        following.onSkipped = [&](const Names& names, const std::string& why) {
            for (const std::string& name : names)
                said += name + ": " + why + "\n";
        };
        return publishWatched(bench, checkpoints, publisher, following, task);
    }

    Names published;
    std::string said;
    bool areAdapters = false;
};

class NothingToPublish : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, NothingToPublish, testing::Values("trl-v2", "slime-v2"));

TEST_P(NothingToPublish, IsRefusedBeforeAnythingIsPut)
{
    for (const Tensors& empty : { Tensors(), Tensors { hollow("a") }, Tensors { hollow("a"), hollow("b") } }) {
        Checkpoints p(GetParam());
        p.put(1, empty);
        p.put(2, empty);
        if (p.options.layout == "slime-v2") {
            const auto base = std::make_shared<MemoryStore>();
            ASSERT_TRUE(putText(*base, "model.safetensors", safetensorsFile(empty)));
            p.base.base = base;
        }
        const Error refused = errorOf(p.publishPair());
        EXPECT_EQ(refused.code, Code::Malformed);
        EXPECT_NE(refused.text.find("there is nothing to publish"), std::string::npos) << refused.text;
        EXPECT_FALSE(refused.action.empty());
        EXPECT_EQ(errorOf(p.planPair()).code, Code::Malformed);
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        EXPECT_EQ(errorOf(p.publish(*publisher, 2)).code, Code::Malformed);
        EXPECT_TRUE(p.keys().empty());
    }
}

TEST(NothingToPublish, TensorsWithoutElementsBesideOthersArePublished)
{
    for (const char* layout : { "trl-v2", "slime-v2" }) {
        Checkpoints p(layout);
        Tensors before = Publishing::tensorsOf(1);
        Tensors behind = Publishing::tensorsOf(2);
        before.push_back(hollow("c"));
        behind.push_back(hollow("c"));
        p.put(1, before);
        p.put(2, behind);
        if (p.options.layout == "slime-v2") {
            const auto base = std::make_shared<MemoryStore>();
            ASSERT_TRUE(putText(*base, "model.safetensors", safetensorsFile(before)));
            p.base.base = base;
        }
        const auto published = p.publishPair();
        ASSERT_TRUE(published) << published.error().text;
        EXPECT_FALSE(published->back().isAdapter);
        EXPECT_EQ(p.rootOfStep(published->back().step), p.rootOfCheckpoint(2));
    }
}

TEST(NothingToPublish, IsPassedOverInAFolder)
{
    Checkpoints p;
    p.put(1, {});
    p.drop(2);
    p.drop(3);
    EXPECT_EQ(errorOf(p.follow()).code, Code::Malformed) << "with once, the first one that was left out";
    EXPECT_EQ(p.published, (Names { "checkpoint-2", "checkpoint-3" }));
    EXPECT_NE(p.said.find("checkpoint-1: not published: the checkpoint holds no tensor"), std::string::npos) << p.said;
}

/// Adapters with one set of tensors, and a config for each step.
struct Adapters : Checkpoints {
    void put(std::int64_t step, const std::string& config)
    {
        Tensors tensors = tensorsOf(step);
        tensors[0].info.name = "base_model.model.q.lora_A.weight";
        tensors[1].info.name = "base_model.model.q.lora_B.weight";
        const std::string folder = fmt::format("checkpoint-{}/", step);
        ASSERT_TRUE(putText(*checkpoints, folder + "adapter_model.safetensors", safetensorsFile(tensors)));
        ASSERT_TRUE(putText(*checkpoints, folder + "adapter_config.json", config));
    }
};

TEST(AdaptersToPublish, WithOtherSettingsAreNamedAndPassedOver)
{
    Adapters p;
    p.put(1, R"({"r":8,"lora_alpha":16})");
    p.put(2, R"({"r":8,"lora_alpha":32})");
    p.put(3, R"({"lora_alpha":16,"r":8})");
    EXPECT_FALSE(p.follow());
    EXPECT_EQ(p.published, (Names { "checkpoint-1", "checkpoint-3" }));
    EXPECT_NE(p.said.find("checkpoint-2: not published: lora_alpha is 16 in A and 32 in B"), std::string::npos)
        << p.said;
    EXPECT_TRUE(p.areAdapters);
}

TEST(AdaptersToPublish, WithTheSameSettingsAreARun)
{
    Adapters p;
    p.put(1, R"({"r":8,"lora_alpha":16})");
    p.put(2, R"({"lora_alpha":16,"r":8})");
    const auto outcome = p.follow();
    EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(p.published, (Names { "checkpoint-1", "checkpoint-2" }));
    EXPECT_TRUE(p.areAdapters);
    EXPECT_EQ(p.said, "");
}

TEST(AdaptersToPublish, ExpectOneSetOfSettings)
{
    const auto adapter = [](const std::string& config) {
        const auto store = std::make_shared<MemoryStore>();
        EXPECT_TRUE(putText(*store, "adapter_model.safetensors", Publishing::fileOf(1)));
        EXPECT_TRUE(putText(*store, "adapter_config.json", config));
        return FileState::open(store, "adapter_model.safetensors", test::anyTask());
    };
    const auto half = adapter(R"({"lora_alpha":16})");
    const auto full = adapter(R"({"lora_alpha":32})");
    ASSERT_TRUE(half && full);
    Publishing p;
    const Error refused = errorOf(expectSameSettings(*half, *full, "ad2", p.task));
    EXPECT_EQ(refused.code, Code::Unsupported);
    EXPECT_EQ(refused.where, "ad2");
    EXPECT_NE(refused.text.find("adapter_config.json is not part of what is published"), std::string::npos);
    EXPECT_TRUE(expectSameSettings(*half, *half, "ad1", p.task));
    EXPECT_TRUE(expectSameSettings(*half, stateOf(Publishing::tensorsOf(1)), "model", p.task));
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    EXPECT_EQ(errorOf(publisher->begin({ *half, "ad1" }, { *full, "ad2" }, p.task)).code, Code::Unsupported);
    EXPECT_TRUE(p.keys().empty());
}

TEST(AdaptersToPublish, AreNotPutBehindAModel)
{
    const auto adapter = stateOf({ { tensor("base_model.model.q.lora_A.weight", { 2 }), "1234" } });
    const auto model = stateOf({ { tensor("model.q.weight", { 2 }), "1234" } });
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const Error refused = errorOf(publisher->begin({ model, "m" }, { adapter, "ad" }, p.task));
    EXPECT_EQ(refused.code, Code::BaseMismatch);
    EXPECT_NE(refused.text.find("B is an adapter (PEFT, "), std::string::npos) << refused.text;
    EXPECT_NE(refused.action.find("merge_and_unload"), std::string::npos) << refused.action;
}

} // namespace
} // namespace deltascope
