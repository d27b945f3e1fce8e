#include "service/new_file.h"
#include "support/child_process.h"
#include "support/temp_dir.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>

// Files that are made whole or not at all: bundles, plans.

namespace deltascope::app {
namespace {

/// What comes of a write in a process that may make files of 1,000 bytes.
bool isRefusedForItsSize(const std::string& path, std::size_t bytes)
{
    return test::inChild([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit { 1'000, 1'000 };
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const Result<void> written = writeNewFile(path, std::string(bytes, 'x'), "the plan");
        return !written && written.error().code == Code::NoSpace && written.error().where == path
            && written.error().text.starts_with("the plan cannot be written: ");
    });
}

TEST(NewFile, HoldsWhatWasWritten)
{
    const test::TempDir folder;
    ASSERT_TRUE(writeNewFile(folder.path("plan"), "text", "the plan"));
    EXPECT_EQ(folder.read("plan"), "text");
}

TEST(NewFile, ReplacesNothing)
{
    const test::TempDir folder;
    folder.write("plan", "older");
    std::filesystem::create_symlink(folder.path("nowhere"), folder.path("link"));
    for (const char* name : { "plan", "link" }) {
        const Result<void> written = writeNewFile(folder.path(name), "text", "the plan");
        ASSERT_FALSE(written) << name;
        EXPECT_EQ(written.error().code, Code::Exists);
    }
    EXPECT_EQ(folder.read("plan"), "older");
    EXPECT_FALSE(std::filesystem::exists(folder.path("nowhere")));
    EXPECT_EQ(writeNewFile(folder.path("no/folder"), "text", "the plan").error().code, Code::NotFound);
}

TEST(NewFile, AFileSizeLimitIsLikeAFullDisk)
{
    const test::TempDir folder;
    EXPECT_TRUE(isRefusedForItsSize(folder.path("large"), 1'001));
    EXPECT_FALSE(std::filesystem::exists(folder.path("large"))) << "half of it is left";
    EXPECT_FALSE(isRefusedForItsSize(folder.path("small"), 1'000));
    EXPECT_EQ(std::filesystem::file_size(folder.path("small")), 1'000U);
}

}
} // namespace deltascope::app
