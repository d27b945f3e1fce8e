#include "local_store_fixture.h"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

// Stores in folders: how changes are noticed.

namespace deltascope::test {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

} // namespace

TEST_F(LocalStoreTest, WatchSeesWritesRenamesAndRemovals)
{
    m_folder.write("a/object", "x");
    const auto watch = std::move(*m_store->watch());
    EXPECT_FALSE(waitFor(*watch, 60ms));
    m_folder.write("a/object", "longer");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::rename(m_folder.path("a/object"), m_folder.path("a/renamed"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::remove(m_folder.path("a/renamed"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/.x.ds-tmp-1-1", "x");
    EXPECT_FALSE(waitFor(*watch, 60ms));
}

TEST_F(LocalStoreTest, WatchFollowsFoldersThatAreMovedIn)
{
    TempDir elsewhere;
    elsewhere.write("step/deep/object", "x");
    const auto watch = std::move(*m_store->watch());
    fs::rename(elsewhere.path("step"), m_folder.path("step"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("step/deep/object", "more");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::rename(m_folder.path("step"), m_folder.path("moved"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("moved/deep/new/object", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("moved/deep/new/second", "x");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchSurvivesRemovalOfTheFolder)
{
    m_folder.write("a/b", "x");
    const auto watch = std::move(*m_store->watch());
    fs::remove_all(m_folder.path());
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/b", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/c", "x");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchSurvivesMoreEventsThanTheKernelKeeps)
{
    const auto watch = std::move(*m_store->watch());
    fs::create_directories(m_folder.path("other"));
    settle(*watch);
    // two files in turn, so that the kernel cannot join equal events
    const int first = ::open(m_folder.path("1").c_str(), O_CREAT | O_WRONLY, 0600);
    const int second = ::open(m_folder.path("2").c_str(), O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_EQ(::pwrite(first, "x", 1, 0), 1);
        ASSERT_EQ(::pwrite(second, "x", 1, 0), 1);
    }
    ::close(first);
    ::close(second);
    m_folder.write("unnoticed/object", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("unnoticed/object", "more");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchPollsWhereLinksHideChanges)
{
    TempDir elsewhere;
    elsewhere.write("blob", "content");
    fs::create_symlink(elsewhere.path("blob"), m_folder.path("link"));
    const auto watch = std::move(*m_store->watch());
    EXPECT_TRUE(waitFor(*watch, 20ms));
}

} // namespace deltascope::test
