#include "format/dcp/dcp_layout.h"

#include "layout_fixture.h"

// Which folders are checkpoints of torch.distributed.checkpoint, and of which steps.

namespace deltascope {
namespace {

using namespace layout_test;

TEST(DcpGroup, TheFolderItselfAndNumberedChildren)
{
    Source source;
    for (const char* folder :
         { "", "step-10/", "checkpoint_20/", "iter_0000030/", "my-epoch_40/", "optimizer_0/", "2025-10-05/", "step-/",
           "step50/", "-60/", "a/step-70/", "step-99999999999999999999/", "model_90/", "tmp-step-95/" })
        source.put(std::string(folder) + "__0_0.distcp", "x");
    source.put("step-10/config.json", "{}").put("step-10/.metadata.tmp", "x").put("step-80/.metadata", "x");
    const auto versions = DcpLayout().group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 0, 10, 20, 30, 50 }));
    EXPECT_EQ(versions[0].name, ".");
    EXPECT_EQ(keysOf(versions[1]), (std::vector<std::string> { "step-10/__0_0.distcp", "step-10/config.json" }));
}

TEST(DcpGroup, TheModelOfAStepIsReadAndNotItsOptimizer)
{
    Source source;
    for (const char* step : { "checkpoint-10/", "checkpoint-20/" }) {
        for (const char* part : { "pytorch_model_fsdp_0/", "optimizer_0/" }) {
            source.put(fmt::format("{}{}__0_0.distcp", step, part), "x");
            source.put(fmt::format("{}{}.metadata", step, part), "x");
        }
        source.put(fmt::format("{}config.json", step), "{}");
    }
    const auto versions = DcpLayout().group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 10, 20 }));
    EXPECT_EQ(versions[1].name, "checkpoint-20/pytorch_model_fsdp_0");
    EXPECT_TRUE(versions[1].notes.empty());
    Source one; // the folder of a step itself
    one.put("pytorch_model_fsdp_0/__0_0.distcp", "x").put("optimizer_0/__0_0.distcp", "x");
    EXPECT_EQ(onlyVersion(DcpLayout(), one).name, "pytorch_model_fsdp_0");
}

TEST(DcpGroup, PlainFilesOfTheSameStepsComeFirst)
{
    Source source;
    source.put("step_10/actor/dist_ckpt/__0_0.distcp", "x").put("step_10/actor/dist_ckpt/.metadata", "x");
    EXPECT_TRUE(recognized(DcpLayout(), source));
    source.put("step_10/actor/huggingface/model.safetensors", "x");
    EXPECT_FALSE(recognized(DcpLayout(), source));
    source.put("step_20/actor/dist_ckpt/__0_0.distcp", "x").put("step_20/actor/dist_ckpt/.metadata", "x");
    EXPECT_TRUE(recognized(DcpLayout(), source)); // they lack a step
}

TEST(DcpGroup, TheNewerOfTwoFoldersWithOneNumberCounts)
{
    Source source;
    source.put("step_10/__0_0.distcp", "x").put("checkpoint-10/__0_0.distcp", "x");
    const VersionObjects version = onlyVersion(DcpLayout(), source);
    EXPECT_EQ(version.name, "checkpoint-10");
    EXPECT_EQ(countNotes(version.notes, Code::Fork), 1U);
}

TEST(DcpGroup, NotesUnfinishedFoldersAtTheNewestVersion)
{
    Source source;
    for (const char* folder : { "step-1/", "step-2/", "step-3/", "step_2/" })
        source.put(std::string(folder) + "__0_0.distcp", "x");
    EXPECT_EQ(DcpLayout().group(source.listing()).size(), 3U);
    source.put("step-1/.metadata", "x").put("step-2/.metadata", "x");
    const auto versions = DcpLayout().group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 1, 2 }));
    EXPECT_TRUE(versions[0].notes.empty());
    ASSERT_EQ(countNotes(versions[1].notes, Code::Unfinished), 2U);
    EXPECT_EQ(versions[1].notes[0].where, "step_2");
    EXPECT_EQ(versions[1].notes[1].where, "step-3");
    EXPECT_EQ(versions[1].notes[1].step, 3);
    EXPECT_EQ(versions[1].name, "step-2");
}

TEST(DcpGroup, AFileBesideAFolderMarksItAsUnfinished)
{
    Source source;
    for (const char* step : { "step=10/weights/", "step=20/weights/" })
        source.put(std::string(step) + "__0_0.distcp", "x").put(std::string(step) + ".metadata", "x");
    EXPECT_EQ(stepsOf(DcpLayout().group(source.listing())), (std::vector<std::int64_t> { 10, 20 }));
    source.put("step=20-unfinished", "");
    const auto versions = DcpLayout().group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 10 }));
    ASSERT_EQ(countNotes(versions[0].notes, Code::Unfinished), 1U);
    EXPECT_EQ(versions[0].notes[0].step, 20);
    Source alone;
    alone.put("step=20/__0_0.distcp", "x").put("step=20/.metadata", "x").put("step=20-unfinished", "");
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), alone)).code, Code::Unfinished);
}

TEST(DcpGroup, OtherCheckpointsAreNotOurs)
{
    Source source;
    source.put("checkpoint-1/model.safetensors", "x").put("checkpoint-2/optimizer_0/__0_0.distcp", "x");
    EXPECT_FALSE(recognized(DcpLayout(), source));
}

} // namespace
} // namespace deltascope
