#include "session.h"

#include "support/counting_store.h"

#include <filesystem>
#include <fstream>

namespace deltascope {
namespace {

using namespace layout_test;

/// A run that builds on a checkpoint beside it, of which the test has a copy.
class OpenBase : public testing::Test {
protected:
    OpenBase()
    {
        std::filesystem::copy(goldenPath("slime-v2-xor") + "/base", m_folder.path("base"));
        session.openCatalog();
    }

    VersionSummary summary()
    {
        store = std::make_shared<test::CountingStore>(localStore(m_folder.path("base")));
        const auto run = session.open(localStore(goldenPath("slime-v2-xor") + "/bucket"), store);
        EXPECT_TRUE(run) << run.error().text;
        return run ? run->base->summary : VersionSummary();
    }
    void replaceShards()
    {
        std::filesystem::remove(m_folder.path("base/model.safetensors.index.json"));
        std::filesystem::remove(m_folder.path("base/model-00001-of-00002.safetensors"));
        std::filesystem::rename(m_folder.path("base/model-00002-of-00002.safetensors"),
                                m_folder.path("base/model.safetensors"));
    }

    /// What opening the run on a folder of this test says, as an error or as notices of the source.
    std::string saidOfBase(const std::string& folder)
    {
        const auto run =
            session.open(localStore(goldenPath("slime-v2-xor") + "/bucket"), localStore(m_folder.path(folder)));
        if (!run)
            return fmt::format("{}: {} → {}", word(run.error().code), run.error().text, run.error().action);
        std::string said;
        for (const Error& notice : run->sourceNotices)
            said += fmt::format("{}: {}\n", word(notice.code), notice.text);
        return said;
    }

    Session session;
    std::shared_ptr<test::CountingStore> store;
    test::TempDir m_folder;
};

TEST_F(OpenBase, ReadsTheHeadersOfACheckpointOnce)
{
    const VersionSummary read = summary();
    EXPECT_FALSE(store->reads().empty());
    EXPECT_GT(read.storedElements, 0U);
    const VersionSummary kept = summary();
    EXPECT_TRUE(store->reads().empty());
    EXPECT_TRUE(kept.full);
    EXPECT_EQ(kept.tensors, read.tensors);
    EXPECT_EQ(kept.storedElements, read.storedElements);
    EXPECT_EQ(kept.nameSet, read.nameSet);
}

TEST_F(OpenBase, ReadsTheHeadersOfAnotherCheckpointInItsPlace)
{
    const VersionSummary before = summary();
    replaceShards();
    const VersionSummary after = summary();
    EXPECT_FALSE(store->reads().empty());
    EXPECT_LT(after.tensors, before.tensors);
    EXPECT_NE(after.nameSet, before.nameSet);
}

TEST_F(OpenBase, IsNoSightOfARunInTheSamePlace)
{
    session.openRecords();
    summary();
    replaceShards();
    const auto run = session.open(store); // as a run of one checkpoint, for the first time
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_TRUE(run->events.empty()) << run->events.front().text;
}

TEST_F(OpenBase, SaysWhatAFolderHoldsThatIsNoBase)
{
    std::filesystem::create_directory(m_folder.path("pickled"));
    std::ofstream(m_folder.path("pickled/pytorch_model.bin")) << "x";
    const std::string pickled = saidOfBase("pickled");
    EXPECT_NE(pickled.find("DS-BASE-MISSING"), std::string::npos) << pickled;
    EXPECT_NE(pickled.find("pytorch_model.bin"), std::string::npos) << pickled;
    std::filesystem::create_directory(m_folder.path("empty"));
    const std::string empty = saidOfBase("empty");
    EXPECT_NE(empty.find("holds no Hugging Face checkpoint"), std::string::npos) << empty;
    std::filesystem::create_directory(m_folder.path("runs"));
    for (const char* name : { "runs/checkpoint-10", "runs/checkpoint-20" })
        std::filesystem::copy(m_folder.path("base"), m_folder.path(name), std::filesystem::copy_options::recursive);
    const std::string several = saidOfBase("runs");
    EXPECT_NE(several.find("2 checkpoints, from checkpoint-10 to checkpoint-20; name one of them"), std::string::npos)
        << several;
}

TEST_F(OpenBase, SaysThatABaseHoldsTwoModels)
{
    EXPECT_EQ(saidOfBase("base"), "");
    std::filesystem::copy(m_folder.path("base/model-00001-of-00002.safetensors"),
                          m_folder.path("base/model.safetensors"));
    const std::string said = saidOfBase("base");
    EXPECT_NE(said.find("DS-TWO-MODELS: in the base checkpoint: "), std::string::npos) << said;
}

} // namespace
} // namespace deltascope
