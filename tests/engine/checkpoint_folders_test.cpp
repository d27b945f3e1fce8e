#include "format/common/checkpoint_folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Where trainers put checkpoints: which number is the step, which folders are one run, which model of a step is read.

namespace deltascope {
namespace {

using Folders = std::vector<std::string>;

CheckpointFolders chosen(const Folders& folders) { return chooseCheckpoints({ folders.begin(), folders.end() }); }

/// "10 global_step_10/actor"
Folders foldersOf(const CheckpointFolders& folders)
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
        { "m--val_loss=2.36-step=10-consumed_samples=512.0-last", 10 },
    };
    for (const auto& [name, step] : names)
        EXPECT_EQ(stepInName(name), step) << name;
    for (const char* name : { "optimizer_0", "pytorch_model_fsdp_0", "2025-10-05", "model_10", "step", "step-",
                              "weight_v10", "tmp-checkpoint-10", "checkpoint-10.tmp", "step_10-unfinished", "hf-10",
                              "10", ".step_10", "step10k", "expert_3", "best" })
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
        EXPECT_EQ(foldersOf(found), want) << form;
        EXPECT_FALSE(found.beside) << form;
        const CheckpointFolders one = chosen({ folders.front() });
        EXPECT_EQ(foldersOf(one), Folders { want.front() }) << form;
    }
}

TEST(CheckpointFolders, ThePolicyIsReadWhereTheNameSaysSo)
{
    const CheckpointFolders found =
        chosen({ "step_1/actor/huggingface", "step_1/critic/huggingface", "step_1/optimizer_0", "step_1/ema",
                 "step_1/other", "best", "step_1/ref", "best_step_2" });
    EXPECT_EQ(foldersOf(found), Folders { "1 step_1/actor/huggingface" });
    EXPECT_FALSE(found.beside);
}

TEST(CheckpointFolders, WhatTheNameDoesNotSayIsSaid)
{
    const CheckpointFolders found = chosen({ "step_1/alpha", "step_1/beta" });
    EXPECT_EQ(foldersOf(found), Folders { "1 step_1/alpha" });
    ASSERT_TRUE(found.beside);
    EXPECT_NE(found.beside->text.find("step_1/alpha is read, step_1/beta is not"), std::string::npos);
    const CheckpointFolders merged = chosen({ "checkpoint-1", "checkpoint-2", "checkpoint-2-merged" });
    EXPECT_EQ(foldersOf(merged), (Folders { "1 checkpoint-1", "2 checkpoint-2" }));
    EXPECT_TRUE(merged.beside);
}

TEST(CheckpointFolders, FoldersThatVaryInTwoWaysAreSeveralRuns)
{
    EXPECT_EQ(foldersOf(chosen({ "a/step_1", "a/step_2", "b/step_3" })), (Folders { "1 a/step_1", "2 a/step_2" }));
    EXPECT_EQ(foldersOf(chosen({ "epoch_1/step_1", "epoch_1/step_2", "epoch_2/step_1" })),
              (Folders { "1 epoch_1/step_1", "2 epoch_1/step_2" }));
    EXPECT_EQ(foldersOf(chosen({ "", "checkpoint-2", "step_1" })), (Folders { "0 ", "1 step_1", "2 checkpoint-2" }));
}

TEST(CheckpointFolders, ASourceWithoutStepsIsOneModel)
{
    EXPECT_EQ(foldersOf(chosen({ "actor/huggingface", "critic/huggingface" })), Folders { "0 actor/huggingface" });
    EXPECT_EQ(foldersOf(chosen({ "", "text_encoder/model" })), Folders { "0 " });
    EXPECT_TRUE(chosen({ "best", "other", ".cache/model" }).steps.empty());
    EXPECT_TRUE(chosen({ "step_1/a/b/c/d/e" }).steps.empty()) << "too deep";
}

TEST(CheckpointFolders, WhatIsCalledUnfinishedIsNeverRead)
{
    for (const char* folder : { "tmp_step_1/policy/weights", "tmp_step_1/policy/weights/iter_0000000",
                                "tmp-checkpoint-30", "step_1/tmp/model", "global_step_30/.tmp-hf-export-abc",
                                "run/step_2.incomplete/actor", "tmp/policy", "weights-unfinished" })
        EXPECT_TRUE(chosen({ folder }).steps.empty()) << folder;
    EXPECT_EQ(foldersOf(chosen({ "step_1/policy/weights/iter_0000000" })),
              Folders { "1 step_1/policy/weights/iter_0000000" });
    EXPECT_EQ(foldersOf(chosen({ "tmp/run/step_1" })), Folders { "1 tmp/run/step_1" }) << "a run may lie anywhere";
    EXPECT_EQ(foldersOf(chosen({ "backup/step_9", "run/step_1" })), Folders { "1 run/step_1" });
}

TEST(CheckpointFolders, OtherModelsAboveAStepAreReadWhereNothingElseIs)
{
    for (const char* other : { "critic", "_critic", "critic-0", "value", "reward_model", "ref", "_ema", "ckpt_ema",
                               "optimizer", "ft-replicat-0", "teacher" }) {
        const Folders alone { fmt::format("{}/step_1", other), fmt::format("{}/step_2", other) };
        EXPECT_EQ(foldersOf(chosen(alone)), (Folders { "1 " + alone[0], "2 " + alone[1] }));
        Folders both = alone;
        both.emplace_back("zz_actor/step_1");
        EXPECT_EQ(foldersOf(chosen(both)), Folders { "1 zz_actor/step_1" }) << other;
    }
    for (const char* run : { "best", "old_run", "target" }) // names of runs
        EXPECT_EQ(foldersOf(chosen({ fmt::format("{}/step_1", run), "zz/step_1" })),
                  Folders { fmt::format("1 {}/step_1", run) });
}

TEST(CheckpointFolders, OtherModelsInTheNameOfAStepAreReadWhereNothingElseIs)
{
    for (const char* form : { "critic_step_{}", "checkpoint-{}-ema", "old_step_{}" }) {
        const std::string other = fmt::format(fmt::runtime(form), 7);
        EXPECT_EQ(foldersOf(chosen({ other })), Folders { "7 " + other });
        const CheckpointFolders both = chosen({ other, "checkpoint-7" });
        EXPECT_EQ(foldersOf(both), Folders { "7 checkpoint-7" });
        EXPECT_FALSE(both.beside) << other;
    }
}

TEST(CheckpointFolders, StatesOfGeneratorsAreNoModels)
{
    const CheckpointFolders verl =
        chosen({ "step_1/actor/extra/dist_ckpt", "step_1/actor/model/dist_ckpt", "step_1/actor/optimizer/dist_ckpt" });
    EXPECT_EQ(foldersOf(verl), Folders { "1 step_1/actor/model/dist_ckpt" });
    EXPECT_FALSE(verl.beside);
    const CheckpointFolders tie = chosen({ "step_1/actor/aaa/dist_ckpt", "step_1/actor/model/dist_ckpt" });
    EXPECT_EQ(foldersOf(tie), Folders { "1 step_1/actor/model/dist_ckpt" }) << "its name says that it is the model";
    EXPECT_TRUE(tie.beside);
}

TEST(CheckpointFolders, AModelWithItsOptimizerIsTheModel)
{
    EXPECT_EQ(foldersOf(chosen({ "step10/model_and_optim", "step10/train" })), Folders { "10 step10/model_and_optim" });
    for (const char* other : { "step10/optim", "step10/optimizer_and_model", "step10/ref_model" })
        EXPECT_TRUE(chosen({ other }).steps.empty()) << other;
}

TEST(CheckpointFolders, ValuesOfMetricsMakeNoOtherRun)
{
    const Folders nemo { "m--val_loss=2.50-step=10-consumed_samples=80.0/weights",
                         "m--val_loss=nan-step=20-consumed_samples=160.0/weights",
                         "m--val_loss=-0.31-step=30-consumed_samples=240.0/weights" };
    EXPECT_EQ(foldersOf(chosen(nemo)), (Folders { "10 " + nemo[0], "20 " + nemo[1], "30 " + nemo[2] }));
    EXPECT_EQ(chosen({ "m-lr=0.1-step=10", "m-lr=0.2-step=20" }).steps.size(), 1U) << "two runs of a sweep";
}

TEST(CheckpointFolders, TheLastSaveIsNotReadTwice)
{
    const CheckpointFolders twins = chosen({ "step=10/weights", "step=20-last/weights", "step=20/weights" });
    EXPECT_EQ(foldersOf(twins), (Folders { "10 step=10/weights", "20 step=20/weights" }));
    EXPECT_FALSE(twins.beside);
    EXPECT_EQ(foldersOf(chosen({ "step=10/weights", "step=20-last/weights" })),
              (Folders { "10 step=10/weights", "20 step=20-last/weights" }));
}

TEST(CheckpointFolders, SomeNumbersAreStepsAmongTheirKind)
{
    EXPECT_EQ(foldersOf(chosen({ "exp/hf-10", "exp/hf-20", "exp/hf-latest" })),
              (Folders { "10 exp/hf-10", "20 exp/hf-20" }));
    EXPECT_EQ(foldersOf(chosen({ "hf-10" })), Folders { "0 hf-10" });
    for (const auto& step : chosen({ "hf-7b", "hf-13b" }).steps)
        EXPECT_EQ(step.step, 0);
    EXPECT_EQ(foldersOf(chosen({ "finetune/intermediate/100", "finetune/intermediate/20", "finetune/current" })),
              (Folders { "20 finetune/intermediate/20", "100 finetune/intermediate/100" }));
    EXPECT_EQ(foldersOf(chosen({ "hf/000010/actor", "hf/000020/actor" })),
              (Folders { "10 hf/000010/actor", "20 hf/000020/actor" }));
}

TEST(CheckpointFolders, OtherNumbersAreNoSteps)
{
    for (const Folders& folders : { Folders { "a/0", "a/1", "a/2", "a/3" }, Folders { "a/2023", "a/2024" },
                                    Folders { "a/20251030", "a/20251102" }, Folders { "a/1764232677", "a/1764232999" },
                                    Folders { "a/100" }, Folders { "a/100", "a/200", "a/other" } })
        EXPECT_TRUE(chosen(folders).steps.empty()) << folders.front();
    EXPECT_EQ(foldersOf(chosen({ "step_5/10", "step_5/20" })), Folders { "5 step_5/10" }) << "a step word decides";
    EXPECT_EQ(chosen({ "a/1000", "a/2000", "a/3000" }).steps.size(), 3U) << "not all of them are years";
}

TEST(CheckpointFolders, AConversionOfMegatronIsAModel)
{
    EXPECT_EQ(foldersOf(chosen({ "release" })), Folders { "0 release" });
    EXPECT_EQ(foldersOf(chosen({ "release", "iter_0000010" })), Folders { "10 iter_0000010" });
}

TEST(CheckpointFolders, TheDepthOfTheSearchIsAChoice)
{
    const std::vector<std::string_view> deep { "step_1/a/b/c/d/e" };
    EXPECT_TRUE(chooseCheckpoints(deep, 4).steps.empty());
    EXPECT_EQ(foldersOf(chooseCheckpoints(deep, 5)), Folders { "1 step_1/a/b/c/d/e" });
    EXPECT_TRUE(chooseCheckpoints({ "step_1/a/b" }, 1).steps.empty());
    EXPECT_TRUE(chooseCheckpoints({ "a/b/c/d/model" }, 4).steps.empty());
    EXPECT_EQ(foldersOf(chooseCheckpoints({ "a/b/c/d/model" }, 5)), Folders { "0 a/b/c/d/model" });
}

TEST(StepFolderOf, ANumberAloneCountsWhereNoStepWordDoes)
{
    EXPECT_EQ(stepFolderOf("hf/20/actor", 20), "hf/20");
    EXPECT_EQ(stepFolderOf("exp/hf-20", 20), "exp/hf-20");
    EXPECT_EQ(stepFolderOf("step_20/actor/20", 20), "step_20");
    EXPECT_EQ(stepFolderOf("hf/20/actor", 10), "");
}

} // namespace
} // namespace deltascope
