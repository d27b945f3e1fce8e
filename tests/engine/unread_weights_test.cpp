#include "session.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

// What is said of weights and folders beside the steps of a run, and how deep steps are searched.

namespace deltascope {
namespace {

using namespace layout_test;

class Beside : public testing::Test {
protected:
    Beside() { session.openCatalog(); }

    void model(const std::string& folder) { put(folder + "/model.safetensors", weights); }
    void adapter(const std::string& folder)
    {
        put(folder + "/adapter_model.safetensors", weights);
        put(folder + "/adapter_config.json", "{}");
    }
    void put(const std::string& key, const std::string& text) { EXPECT_TRUE(putText(*store, key, text)) << key; }

    deltascope::Run open(std::size_t depth = DefaultSearchDepth)
    {
        OpenOptions options;
        options.searchDepth = depth;
        auto run = openRun(session.bench, store, options, session.task);
        EXPECT_TRUE(run) << run.error().text;
        return run ? std::move(*run) : deltascope::Run();
    }
    /// Notices of the source of one code.
    std::vector<Error> told(Code code = Code::Stray)
    {
        std::vector<Error> notices = open().sourceNotices;
        std::erase_if(notices, [&](const Error& notice) { return notice.code != code; });
        return notices;
    }

    const std::string weights = safetensorsFile({ { tensor("a"), std::string(16, 'x') } });
    const std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    Session session;
};

TEST_F(Beside, FinalModelsAreNamedOnce)
{
    for (const int step : { 10, 20 })
        model(fmt::format("checkpoint-{}", step));
    EXPECT_TRUE(told().empty());
    model("final_model");
    adapter("merged/lora");
    const std::vector<Error> notices = told();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(
        notices[0].text,
        "beside the steps of this run lie weights that are not read: final_model (a whole model), merged/lora (an "
        "adapter)");
    EXPECT_EQ(notices[0].where, "final_model");
    EXPECT_NE(notices[0].action.find("Open the folder final_model"), std::string::npos) << notices[0].action;
}

TEST_F(Beside, AnAdapterBesideAWholeModelOfItsStepIsNamed)
{
    model("global_step_1/actor/huggingface");
    EXPECT_TRUE(told().empty());
    adapter("global_step_1/actor/lora_adapter");
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told()[0].where, "global_step_1/actor/lora_adapter");
}

TEST_F(Beside, AStepInAnotherFormIsNamedAndAnotherFormOfAStepIsNot)
{
    for (const int step : { 10, 20 }) {
        model(fmt::format("hf/iter_{}", step));
        put(fmt::format("ckpt/iter_{}/__0_0.distcp", step), "x");
        put(fmt::format("ckpt/iter_{}/.metadata", step), "x");
    }
    EXPECT_TRUE(told().empty());
    EXPECT_EQ(open().layout->word(), "hf");
    put("ckpt/old_iter_30/__0_0.distcp", "x"); // no model of this run
    put("hf/iter_30/__0_0.distcp", "x");
    ASSERT_EQ(open().layout->word(), "hf");
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told()[0].where, "hf/iter_30");
}

TEST_F(Beside, OtherModelsAndOtherRunsAreNotNamedAsWeights)
{
    model("a/checkpoint-1");
    model("a/checkpoint-2");
    model("b/checkpoint-1");
    model("critic/checkpoint-1");
    model("a/checkpoint-2/critic");
    model("a/best");
    model("a/tmp-checkpoint-3");
    EXPECT_TRUE(told().empty()) << told()[0].text;
    EXPECT_EQ(told(Code::Fork).size(), 2U) << "the other runs";
}

TEST_F(Beside, PartsOfAModelAreNotNamed)
{
    for (const char* folder : { ".", "checkpoint-1" }) {
        const std::string in = folder == std::string(".") ? "" : fmt::format("{}/", folder);
        put(in + "model.safetensors", weights);
        put(in + "2_Dense/model.safetensors", weights);
    }
    EXPECT_TRUE(told().empty()) << told()[0].text;
    model("3_Dense");
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(Beside, StepsWithoutWeightsOfOneKindAreOneNotice)
{
    for (const int step : { 10, 20, 30 }) {
        model(fmt::format("actor_train-0/checkpoint-{}", step));
        put(fmt::format("pipeline/checkpoint-{}/state.json", step), "{}");
    }
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told()[0].text,
              "3 folders are no steps of this run, each holds no weights: pipeline/checkpoint-10, "
              "pipeline/checkpoint-20, pipeline/checkpoint-30");
    EXPECT_FALSE(told()[0].step);
    for (const int step : { 20, 30 })
        ASSERT_TRUE(store->remove(fmt::format("pipeline/checkpoint-{}/state.json", step)));
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told()[0].text, "pipeline/checkpoint-10 holds no weights: it is no step of this run");
    EXPECT_EQ(told()[0].step, 10);
}

TEST_F(Beside, TheDepthIsThatOfEachLook)
{
    model("step_1/a/b/c/d/e");
    model("step_2/a/b/c/d/e");
    const auto refused = openRun(session.bench, store, {}, session.task);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().action.find("--depth 5"), std::string::npos) << refused.error().action;
    EXPECT_EQ(open(5).versions.size(), 2U);
    EXPECT_EQ(open(5).layout->searchDepth(), 5U);
    model("step_1");
    model("step_2");
    model("step_3");
    for (const std::size_t depth : { std::size_t(5), DefaultSearchDepth, std::size_t(5), std::size_t(1) }) {
        const deltascope::Run run = open(depth);
        EXPECT_EQ(run.versions.size(), 3U) << depth;
        EXPECT_TRUE(run.gone.empty());
        EXPECT_TRUE(run.events.empty()) << "nothing of another depth is missed";
    }
    for (const std::size_t depth : { std::size_t(0), MostSearchDepth + 1 }) {
        OpenOptions options;
        options.searchDepth = depth;
        const auto unfit = openRun(session.bench, store, options, session.task);
        ASSERT_FALSE(unfit);
        EXPECT_EQ(unfit.error().code, Code::Usage);
    }
}

} // namespace
} // namespace deltascope
