#include "format/common/checkpoint_folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Where trainers put checkpoints: which number is the step, which folders are one run, which model of a step is read.

namespace deltascope {
namespace {

using Folders = std::vector<std::string>;

CheckpointFolders chosen(const Folders& folders) { return chooseCheckpoints({ folders.begin(), folders.end() }); }

/// "10 global_step_10/actor"
Folders stepsOf(const CheckpointFolders& folders)
{
    Folders steps;
    for (const CheckpointFolder& step : folders.steps)
        steps.push_back(fmt::format("{} {}", step.step, step.folder));
    return steps;
}

TEST(StepInName, TheNumberBehindTheLastStepWord)
{
    const std::pair<const char*, std::int64_t> names[] = {
        { "checkpoint-10", 10 },
        { "step_000010", 10 },
        { "global_step_10", 10 },
        { "global_step10_hf", 10 },
        { "iter_0000010", 10 },
        { "epoch_1_step_10", 10 },
        { "Checkpoint-10", 10 },
        { "ep0-ba10", 10 },
        { "epoch7epochstep11globalstep50", 50 },
        { "step=10", 10 },
        { "checkpoint-10-merged", 10 },
        { "run2-checkpoint-10", 10 },
        { "update_10_loss_0.5", 10 },
    };
    for (const auto& [name, step] : names)
        EXPECT_EQ(stepInName(name), step) << name;
    for (const char* name :
         { "optimizer_0", "pytorch_model_fsdp_0", "2025-10-05", "model_10", "step", "step-", "weight_v10",
           "tmp-checkpoint-10", "checkpoint-10.tmp", ".step_10", "step10k", "expert_3", "best" })
        EXPECT_FALSE(stepInName(name)) << name;
}

TEST(CheckpointFolders, EachTrainerHasItsHabit)
{
    for (const char* form : { "checkpoint-{0}", "global_step_{0}/actor/huggingface", "exports/global_step_{0}/policy",
                              "global_step{0}_hf", "checkpoint-{0}/pytorch_model_fsdp_0",
                              "step_{0}/policy/weights/iter_0000000/model", "epoch_0_step_{0}/model/consolidated",
                              "epoch{0}epochstep{0}globalstep{0}", "huggingface/ba{0}", "global_step_{0}/iter_{0}" }) {
        Folders folders;
        Folders want;
        for (const int step : { 10, 20, 30 }) {
            folders.push_back(fmt::format(fmt::runtime(form), step));
            want.push_back(fmt::format("{} {}", step, folders.back()));
        }
        const CheckpointFolders found = chosen(folders);
        EXPECT_EQ(stepsOf(found), want) << form;
        EXPECT_FALSE(found.beside) << form;
        const CheckpointFolders one = chosen({ folders.front() });
        EXPECT_EQ(stepsOf(one), Folders { want.front() }) << form;
    }
}

TEST(CheckpointFolders, ThePolicyIsReadWhereTheNameSaysSo)
{
    const CheckpointFolders found =
        chosen({ "step_1/actor/huggingface", "step_1/critic/huggingface", "step_1/optimizer_0", "step_1/ema",
                 "step_1/other", "best", "step_1/ref", "best_step_2" });
    EXPECT_EQ(stepsOf(found), Folders { "1 step_1/actor/huggingface" });
    EXPECT_FALSE(found.beside);
}

TEST(CheckpointFolders, WhatTheNameDoesNotSayIsSaid)
{
    const CheckpointFolders found = chosen({ "step_1/alpha", "step_1/beta" });
    EXPECT_EQ(stepsOf(found), Folders { "1 step_1/alpha" });
    ASSERT_TRUE(found.beside);
    EXPECT_NE(found.beside->text.find("step_1/alpha is read, step_1/beta is not"), std::string::npos);
    const CheckpointFolders merged = chosen({ "checkpoint-1", "checkpoint-2", "checkpoint-2-merged" });
    EXPECT_EQ(stepsOf(merged), (Folders { "1 checkpoint-1", "2 checkpoint-2" }));
    EXPECT_TRUE(merged.beside);
}

TEST(CheckpointFolders, FoldersThatVaryInTwoWaysAreSeveralRuns)
{
    EXPECT_EQ(stepsOf(chosen({ "a/step_1", "a/step_2", "b/step_3" })), (Folders { "1 a/step_1", "2 a/step_2" }));
    EXPECT_EQ(stepsOf(chosen({ "epoch_1/step_1", "epoch_1/step_2", "epoch_2/step_1" })),
              (Folders { "1 epoch_1/step_1", "2 epoch_1/step_2" }));
    EXPECT_EQ(stepsOf(chosen({ "", "checkpoint-2", "step_1" })), (Folders { "0 ", "1 step_1", "2 checkpoint-2" }));
}

TEST(CheckpointFolders, ASourceWithoutStepsIsOneModel)
{
    EXPECT_EQ(stepsOf(chosen({ "actor/huggingface", "critic/huggingface" })), Folders { "0 actor/huggingface" });
    EXPECT_EQ(stepsOf(chosen({ "", "text_encoder/model" })), Folders { "0 " });
    EXPECT_TRUE(chosen({ "best", "other", ".cache/model" }).steps.empty());
    EXPECT_TRUE(chosen({ "step_1/a/b/c/d/e" }).steps.empty()) << "too deep";
}

} // namespace
} // namespace deltascope
