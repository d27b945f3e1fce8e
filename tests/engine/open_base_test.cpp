#include "session.h"

#include "support/counting_store.h"

#include <filesystem>

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

    Session session;
    std::shared_ptr<test::CountingStore> store;

private:
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

} // namespace
} // namespace deltascope
