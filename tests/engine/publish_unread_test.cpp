#include "publish_fixture.h"

// publishWatched over folders that hold something else than checkpoints: what was seen is said.

namespace deltascope {
namespace {

using namespace layout_test;

using Names = std::vector<std::string>;

struct Folder : Publishing {
    void put(const std::string& key) { ASSERT_TRUE(putText(*checkpoints, key, "x")); }
    void adapter(std::int64_t step)
    {
        for (const char* file : { "adapter_config.json", "optimizer.pt", "rng_state.pth" })
            put(fmt::format("checkpoint-{}/{}", step, file));
        ASSERT_TRUE(putText(*checkpoints, fmt::format("checkpoint-{}/adapter_model.safetensors", step),
                            Publishing::fileOf(step)));
    }
    Result<void> follow(FollowOptions options = {})
    {
        DS_TRY(Publisher publisher, open());
        options.once = true;
        options.onVersion = [&](const PublishedVersion& version) { published.push_back(version.origin); };
        options.onSkipped = [&](const Names& names, const std::string& why) {
            for (const std::string& name : names)
                said.emplace_back(name, why);
        };
        return publishWatched(bench, checkpoints, publisher, options, task);
    }
    /// What was said of a folder; all that was said of it, if it was more than once.
    std::string saidOf(const std::string& name) const
    {
        std::string text;
        for (const auto& [one, why] : said)
            text += one == name ? why : "";
        return text;
    }
    Names names() const
    {
        Names names;
        for (const auto& [name, why] : said)
            names.push_back(name);
        return names;
    }

    Names published;
    std::vector<std::pair<std::string, std::string>> said;
};

void expectNamed(const Error& error, std::initializer_list<const char*> parts)
{
    EXPECT_EQ(error.code, Code::Layout);
    EXPECT_FALSE(error.action.empty());
    for (const char* part : parts)
        EXPECT_NE(error.text.find(part), std::string::npos) << error.text;
}

TEST(PublishUnread, ARunOfAdaptersIsPublished)
{
    Folder p;
    for (const std::int64_t step : { 10, 20 })
        p.adapter(step);
    const Result<void> outcome = p.follow();
    EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(p.published, (Names { "checkpoint-10", "checkpoint-20" }));
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(20));
    EXPECT_TRUE(p.said.empty());
}

TEST(PublishUnread, WhatCanBePublishedIsPublishedFirst)
{
    Folder p;
    p.adapter(1);
    p.drop(2);
    p.adapter(3);
    p.drop(4);
    expectNamed(errorOf(p.follow()), { "checkpoint-1, checkpoint-3 are", "PEFT adapter", "adapter_model.safetensors" });
    EXPECT_NE(p.saidOf("checkpoint-1").find("merge"), std::string::npos);
    EXPECT_EQ(p.published, (Names { "checkpoint-2", "checkpoint-4" }));
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(4));
    expectNamed(errorOf(p.follow()), { "checkpoint-1 is", "PEFT adapter", "not published either: checkpoint-3" });
    p.adapter(5);
    expectNamed(errorOf(p.follow()), { "checkpoint-1 is", "checkpoint-5" });
}

TEST(PublishUnread, EachKindHasItsReason)
{
    const std::pair<const char*, const char*> kinds[] = {
        { "pytorch_model.bin", "pickled weights" },
        { "global_step7/mp_rank_00_model_states.pt", "pickled weights" },
        { "__0_0.distcp", "distributed" },
        { "consolidated.safetensors", "consolidated.safetensors" },
        { "config.json", "no weights" },
        { "optimizer.bin", "no weights" },
    };
    for (const auto& [file, why] : kinds) {
        SCOPED_TRACE(file);
        Folder p;
        p.put(fmt::format("checkpoint-7/{}", file));
        expectNamed(errorOf(p.follow()), { "checkpoint-7 is not published", why });
        EXPECT_NE(p.saidOf("checkpoint-7").find(why), std::string::npos) << p.saidOf("checkpoint-7");
    }
}

TEST(PublishUnread, OtherNamesFailWhereNothingElseIsThere)
{
    for (const char* key : { "best/model.safetensors", "adapter_model.safetensors", "pretrained/pytorch_model.bin" }) {
        SCOPED_TRACE(key);
        Folder p;
        p.put(key);
        EXPECT_EQ(errorOf(p.follow()).code, Code::Layout);
        EXPECT_EQ(p.said.size(), 1U);
        Folder q;
        q.put(key);
        q.drop(1);
        EXPECT_TRUE(q.follow()); // beside checkpoints a trainer keeps many things
        EXPECT_EQ(q.published, Names { "checkpoint-1" });
        EXPECT_EQ(q.said.size(), std::string(key).find('/') == std::string::npos ? 0U : 1U);
    }
}

TEST(PublishUnread, AnyNameWithAStepIsACheckpoint)
{
    Folder p;
    p.drop(1);
    p.put("epoch_3/pytorch_model.bin");
    p.put("exports/global_step_4/policy/pytorch_model.bin");
    expectNamed(errorOf(p.follow()), { "exports/global_step_4", "epoch_3", "pickled weights" });
    EXPECT_EQ(p.published, Names { "checkpoint-1" });
}

TEST(PublishUnread, FoldersOfOtherTrainersArePublished)
{
    Folder p;
    for (const std::int64_t step : { 10, 20 }) {
        ASSERT_TRUE(putText(*p.checkpoints, fmt::format("exports/global_step_{}/policy/model.safetensors", step),
                            Publishing::fileOf(step)));
        p.put(fmt::format("exports/global_step_{}/critic/model.safetensors", step));
        p.put(fmt::format("exports/global_step_{}/data.pt", step));
    }
    EXPECT_TRUE(p.follow());
    EXPECT_EQ(p.published, (Names { "exports/global_step_10", "exports/global_step_20" }));
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(20));
    EXPECT_TRUE(p.said.empty());
    const Result<void> second = p.follow();
    EXPECT_TRUE(second) << second.error().text; // nothing is published twice
    EXPECT_EQ(p.published.size(), 2U);
}

TEST(PublishUnread, TheFolderItselfIsNoCheckpointToWatch)
{
    Folder p;
    ASSERT_TRUE(putText(*p.checkpoints, "model.safetensors", Publishing::fileOf(7)));
    expectNamed(errorOf(p.follow()), { "the folder itself is not published: it is a checkpoint" });
    p.drop(1);
    EXPECT_TRUE(p.follow());
    ASSERT_TRUE(p.checkpoints->remove(Publishing::keyOf(1)));
    EXPECT_TRUE(p.follow()); // what the trainer ends with
}

TEST(PublishUnread, WhatHoldsNoWeightsIsNothing)
{
    Folder p;
    for (const char* key : { "README.md", "runs/Nov23/events.out.tfevents", "training_args.bin", "logs/trainer.log",
                             ".cache/model.safetensors", "tmp-checkpoint-5/trainer_state.json" })
        p.put(key);
    const Result<void> outcome = p.follow();
    EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(p.said.empty());
}

TEST(PublishUnread, AnUnfinishedSaveIsNamedOnceItIsOld)
{
    Folder p;
    p.drop(1);
    p.put("tmp_step_30/policy/weights/model.safetensors");
    EXPECT_TRUE(p.follow()) << "it is no checkpoint, and one was published";
    EXPECT_EQ(p.published, Names { "checkpoint-1" });
    EXPECT_EQ(p.names(), Names { "tmp_step_30" });
    EXPECT_NE(p.saidOf("tmp_step_30").find("unfinished save"), std::string::npos) << p.saidOf("tmp_step_30");
}

TEST(PublishUnread, WhatIsStillBeingWrittenIsNotJudged)
{
    Folder p;
    p.adapter(1);
    const auto grow = std::make_shared<ReadHookStore>(p.checkpoints);
    FollowOptions options;
    options.marker = "done";
    // The folder becomes a checkpoint before its marker comes.
    p.drop(2);
    p.put("checkpoint-2/done");
    grow->onRead = [&](std::string_view key, std::uint64_t offset) {
        if (key == Publishing::keyOf(2) && Publishing::isPayload(offset)) {
            p.drop(1);
            p.put("checkpoint-1/done");
        }
    };
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    options.once = true;
    options.onSkipped = [&](const Names& names, const std::string& why) {
        for (const std::string& name : names)
            p.said.emplace_back(name, why);
    };
    EXPECT_EQ(errorOf(publishWatched(p.bench, grow, *publisher, options, p.task)).code, Code::Fork);
    ASSERT_EQ(p.names(), Names { "checkpoint-1" });
    EXPECT_EQ(p.saidOf("checkpoint-1").find("not published: it came after checkpoint-2 was published"), 0U)
        << "it is no adapter any more: " << p.saidOf("checkpoint-1");
}

} // namespace
} // namespace deltascope
