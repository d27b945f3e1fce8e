#include "ops/candidate_runs.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

// Several runs below one address: which one is shown, what each is called, and what is no run of its own.

namespace deltascope {
namespace {

class Listed {
public:
    explicit Listed(std::string_view layout)
        : m_layout(builtinLayouts().find(layout))
    {
    }
    Listed& put(const std::string& key, std::int64_t modifiedUs = 1)
    {
        m_listing.push_back({ key, 8, key, modifiedUs });
        std::sort(m_listing.begin(), m_listing.end(),
                  [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
        return *this;
    }
    /// An anchor at step 1, and deltas up to a step.
    Listed& trl(const std::string& folder, int steps)
    {
        put(fmt::format("{}anchors/step_000001.safetensors", folder));
        for (int step = 2; step <= steps; ++step)
            put(fmt::format("{}deltas/step_{:06}.safetensors", folder, step));
        return *this;
    }
    Listed& adapter(const std::string& folder, std::int64_t modifiedUs = 1)
    {
        return put(folder + "/adapter_config.json", modifiedUs).put(folder + "/adapter_model.safetensors", modifiedUs);
    }

    Result<std::vector<CandidateRun>> find() const { return candidateRuns(*m_layout, "SRC", m_listing); }
    /// "zz/ 15" for a folder, "zz* 15" for names that begin so.
    std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        const auto found = find();
        for (const CandidateRun& run : found.value())
            names.push_back(
                fmt::format("{}{} {}", run.place.place, run.place.isFolder ? "/" : "*", run.place.versions));
        return names;
    }
    std::vector<Error> notices() const { return otherRuns("SRC", find().value()); }

private:
    std::shared_ptr<const Layout> m_layout;
    std::vector<ObjectInfo> m_listing;
};

using Names = std::vector<std::string>;

TEST(CandidateRuns, TheLongestIsShownAndTheOthersAreNamed)
{
    Listed listed("trl-v2");
    listed.trl("aa/", 3).trl("zz/", 15);
    EXPECT_EQ(listed.names(), (Names { "zz/ 15", "aa/ 3" }));
    const std::vector<Error> notices = listed.notices();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].code, Code::Fork);
    EXPECT_FALSE(notices[0].step);
    EXPECT_EQ(notices[0].text, "2 runs lie here: zz (steps 1 to 15) is shown, aa (steps 1 to 3) is not looked at");
    EXPECT_EQ(notices[0].action, "Open the folder aa below SRC to see it.");
    EXPECT_EQ(placesOf(listed.find().value()).size(), 2U);
}

TEST(CandidateRuns, OneRunAmongOtherFoldersIsAlone)
{
    Listed listed("trl-v2");
    listed.trl("project/runs/grpo-7/", 15)
        .put("project/README.md")
        .put("project/runs/grpo-6/trainer.log")
        .put("project/wandb/run-1/files/config.yaml");
    EXPECT_EQ(listed.names().size(), 1U);
    EXPECT_TRUE(listed.notices().empty());
    EXPECT_TRUE(placesOf(listed.find().value()).empty());
}

TEST(CandidateRuns, TheRunInTheFolderItselfIsWhatItsAddressMeans)
{
    Listed listed("trl-v2");
    listed.trl("", 2).trl("later/", 9);
    EXPECT_EQ(listed.names(), (Names { "/ 2", "later/ 9" }));
    EXPECT_EQ(listed.notices().at(0).text,
              "2 runs lie here: the folder itself (steps 1 to 2) is shown, later (steps 1 to 9) is not looked at");
}

TEST(CandidateRuns, ARunOfOneObjectHasTheAddressThatItsLayoutNeeds)
{
    Listed listed("trl-v2");
    listed.trl("runs/aa/", 1).trl("runs/bb/", 2);
    EXPECT_EQ(listed.names(), (Names { "runs/bb/ 2", "runs/aa/ 1" }));
}

TEST(CandidateRuns, AdaptersOfTwoPoliciesShareAFolder)
{
    Listed listed("trl-adapter");
    listed.adapter("out/.vllm_lora/aaa-v5");
    for (int version = 3; version <= 7; ++version)
        listed.adapter(fmt::format("out/.vllm_lora/trl-policy-v{}", version));
    EXPECT_EQ(listed.names(), (Names { "out/.vllm_lora/trl-policy-v* 5", "out/.vllm_lora/aaa-v* 1" }));
    EXPECT_NE(listed.notices().at(0).action.find("out/.vllm_lora/aaa-v*"), std::string::npos);
}

TEST(CandidateRuns, WhatLiesInAStepIsNoRunOfItsOwn)
{
    Listed listed("hf");
    for (const int step : { 10, 20 }) {
        for (const char* part : { "actor/huggingface", "critic/huggingface", "other" })
            listed.put(fmt::format("run/global_step_{}/{}/model.safetensors", step, part));
    }
    EXPECT_EQ(listed.names().size(), 1U);
    EXPECT_TRUE(listed.notices().empty());
    listed.put("next/global_step_30/actor/huggingface/model.safetensors");
    EXPECT_EQ(listed.names().size(), 2U);
    ASSERT_EQ(listed.notices().size(), 1U);
    EXPECT_NE(listed.notices()[0].text.find("(step 30) is not looked at"), std::string::npos)
        << listed.notices()[0].text;
}

TEST(CandidateRuns, RunsOfOtherModelsComeLast)
{
    Listed listed("hf");
    for (const int step : { 1, 2, 3 })
        listed.put(fmt::format("t/critic/globalstep{}/model.safetensors", step), 9);
    EXPECT_EQ(listed.names(), Names { "/ 3" }) << "alone it is what lies there";
    listed.put("t/default/globalstep1/model.safetensors").put("t/default/globalstep2/model.safetensors");
    EXPECT_EQ(listed.names(), (Names { "t/default/ 2", "t/critic/ 3" }));
    ASSERT_EQ(listed.notices().size(), 1U);
    EXPECT_EQ(listed.notices()[0].text,
              "2 runs lie here: t/default (steps 1 to 2) is shown, t/critic (steps 1 to 3) is not looked at");
}

TEST(CandidateRuns, StepsOfOtherModelsInTheFolderItselfComeLast)
{
    Listed listed("hf");
    listed.put("critic_step_1/model.safetensors").put("critic_step_2/model.safetensors");
    EXPECT_EQ(listed.names().size(), 1U);
    listed.put("run/step_1/model.safetensors");
    EXPECT_EQ(listed.find()->front().versions.front().name, "run/step_1");
}

TEST(CandidateRuns, AnUnfinishedStepOfARunIsNoRunOfItsOwn)
{
    Listed listed("dcp");
    for (const char* name : { "val_loss=2.5-step=10-samples=80.0", "val_loss=2.3-step=20-samples=160.0" })
        listed.put(fmt::format("{}/__0_0.distcp", name)).put(fmt::format("{}/.metadata", name));
    EXPECT_EQ(listed.find()->front().versions.size(), 2U);
    listed.put("val_loss=2.3-step=20-samples=160.0-unfinished");
    ASSERT_EQ(listed.find()->size(), 1U);
    EXPECT_EQ(listed.find()->front().versions.front().step, 10);
}

TEST(CandidateRuns, StepsOfOtherModelsBesideARunAreNone)
{
    Listed listed("hf");
    for (const char* folder : { "checkpoint-1", "checkpoint-2", "checkpoint-1-ema", "old_step_1" })
        listed.put(fmt::format("{}/model.safetensors", folder));
    EXPECT_EQ(listed.names().size(), 1U);
    listed.put("b/checkpoint-1/model.safetensors");
    EXPECT_EQ(listed.names().size(), 2U);
}

TEST(CandidateRuns, AnAdapterWithoutAStepDoesNotHideTheRun)
{
    Listed listed("trl-adapter");
    listed.adapter("outputs/checkpoint-30").adapter("outputs/checkpoint-60").adapter("lora_model", 9);
    const auto runs = listed.find();
    ASSERT_TRUE(runs);
    ASSERT_EQ(runs->size(), 1U);
    EXPECT_EQ(runs->front().versions.back().name, "outputs/checkpoint-60");
    Listed merged("trl-adapter");
    merged.adapter("outputs/checkpoint-30").adapter("outputs/checkpoint-60").put("model/model.safetensors", 9);
    merged.put("outputs/checkpoint-60-merged/model.safetensors");
    ASSERT_EQ(merged.find()->size(), 1U);
    EXPECT_EQ(merged.find()->front().versions.size(), 2U);
    merged.put("outputs/checkpoint-30/model.safetensors");
    EXPECT_EQ(merged.find()->front().versions.size(), 2U);
    merged.put("outputs/checkpoint-60/model.safetensors"); // whole models of all steps
    EXPECT_TRUE(merged.find()->empty());
}

TEST(CandidateRuns, MoreThanEightAreListed)
{
    Listed listed("trl-v2");
    for (int run = 1; run <= 8; ++run)
        listed.trl(fmt::format("run-{}/", run), 1);
    EXPECT_EQ(listed.names().size(), 8U);
    listed.trl("run-9/", 1);
    const auto found = listed.find();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::Usage);
    EXPECT_NE(found.error().text.find("run-1, run-2, "), std::string::npos) << found.error().text;
}

// --- two spellings of one number -------------------------------------------------------------------------------------

class TwoSpellings : public testing::TestWithParam<std::pair<const char*, const char*>> { };

TEST_P(TwoSpellings, AreOneStepWithTheNewerFolderAndANote)
{
    const auto [layout, file] = GetParam();
    const std::string name = std::string(layout) == "modelexpress" ? "run-" : "trl-policy-v";
    for (const std::int64_t secondUs : { 1, 2 }) {
        Listed listed(layout);
        for (const std::string& each : { std::string("adapter_config.json"), std::string(file) })
            listed.put(name + "4/" + each).put(name + "5/" + each).put(name + "05/" + each, secondUs);
        const auto runs = listed.find();
        ASSERT_TRUE(runs);
        ASSERT_EQ(runs->size(), 1U);
        const std::vector<VersionObjects>& versions = runs->front().versions;
        ASSERT_EQ(versions.size(), 2U);
        const VersionObjects& twice = versions.back();
        EXPECT_EQ(twice.name, name + "05");
        EXPECT_EQ(twice.objects.size(), 2U);
        ASSERT_EQ(twice.notes.size(), 1U);
        EXPECT_EQ(twice.notes[0].text,
                  fmt::format("step 5 is in two folders; {0}05{1} is read, {0}5 is not", name,
                              secondUs == 1 ? "" : ", the newer one,"));
        EXPECT_TRUE(versions.front().notes.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, TwoSpellings,
                         testing::Values(std::pair("trl-adapter", "adapter_model.safetensors"),
                                         std::pair("modelexpress", "model.safetensors.index.json")));

} // namespace
} // namespace deltascope
