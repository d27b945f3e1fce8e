#include "deltascope/engine/leftovers.h"

#include "deltascope/engine/hash_tree.h"
#include "ops/rebuild_folder.h"
#include "support/temp_dir.h"

#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// What killed rebuilds leave in a folder: found, weighed and removed, and nothing else is.

namespace deltascope {
namespace {

constexpr int Nobody = 2'000'000'000; ///< no process has this number

class Leftovers : public testing::Test {
protected:
    static std::string planDigits(const std::string& plan) { return toHex(xxh3(asBytes(plan))).substr(0, 16); }
    static std::string nameOf(const std::string& destination, const std::string& plan = "plan", int process = Nobody)
    {
        return fmt::format(".{}.ds-{}-{}-0badf00d", destination, planDigits(plan), process);
    }
    static std::string sharedName(const std::string& destination)
    {
        return fmt::format(".{}.ds-{}-shared", destination, planDigits("plan"));
    }
    /// A rebuild that was killed in the middle: 4 + 1000 + 20 bytes.
    std::string left(const std::string& name)
    {
        folder.write(name + "/deltascope-plan.json", "plan");
        folder.write(name + "/model.safetensors", std::string(1000, 'x'));
        folder.write(name + "/deltascope-progress.jsonl", std::string(20, 'x'));
        return folder.path(name);
    }
    std::vector<Leftover> found()
    {
        auto list = findLeftovers(*disk, folder.path());
        EXPECT_TRUE(list) << list.error().text;
        return list.value_or(std::vector<Leftover>());
    }
    Code removalOf(const Leftover& leftover)
    {
        const Result<void> removed = removeLeftover(*disk, leftover);
        return removed ? Code::Internal : removed.error().code;
    }
    static bool isThere(const std::string& path)
    {
        return std::filesystem::exists(std::filesystem::symlink_status(path));
    }

    test::TempDir folder;
    std::unique_ptr<FileSystem> disk = makeFileSystem();
};

TEST_F(Leftovers, AreFoundWithWhatTheyWeigh)
{
    const std::string path = left(nameOf("step_7"));
    folder.write(sharedName("big") + "/part-0-of-2/progress.jsonl", "12345");
    folder.write(sharedName("big") + "/model-00001-of-00002.safetensors", "1234567");
    folder.write("step_6/model.safetensors", "a checkpoint");
    const std::vector<Leftover> list = found();
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].path, folder.path(sharedName("big")));
    EXPECT_TRUE(list[0].shared);
    EXPECT_EQ(list[0].bytes, 12U);
    EXPECT_EQ(list[1].path, path);
    EXPECT_EQ(list[1].destination, folder.path("step_7"));
    EXPECT_EQ(list[1].bytes, 1024U);
    EXPECT_EQ(list[1].process, Nobody);
    EXPECT_FALSE(list[1].atWork);
}

TEST_F(Leftovers, AreRemovedWhole)
{
    left(nameOf("a"));
    folder.write(sharedName("b") + "/part-0-of-1/progress.jsonl", "{}");
    folder.write(nameOf("c") + "/deltascope.provenance.json", "{}"); // killed just before its rename
    folder.write(nameOf("d") + "/deltascope-plan.json", "pl"); // killed while its plan was written
    std::filesystem::create_directory(folder.path(nameOf("e"))); // killed before
    const std::string kept = folder.write("model.safetensors", "kept");
    const std::vector<Leftover> list = found();
    ASSERT_EQ(list.size(), 5U);
    for (const Leftover& leftover : list) {
        EXPECT_TRUE(removeLeftover(*disk, leftover)) << leftover.path;
        EXPECT_EQ(removalOf(leftover), Code::NotFound);
    }
    EXPECT_TRUE(found().empty());
    EXPECT_TRUE(isThere(kept));
}

TEST_F(Leftovers, WhatAProcessHasLockedIsNeverRemoved)
{
    const std::string path = left(nameOf("a"));
    folder.write(sharedName("b") + "/part-0-of-2/progress.jsonl", "{}");
    folder.write(sharedName("b") + "/part-1-of-2/progress.jsonl", "{}");
    auto whole = disk->lock(path);
    auto part = disk->lock(folder.path(sharedName("b") + "/part-1-of-2"));
    ASSERT_TRUE(whole && part);
    const std::vector<Leftover> list = found();
    ASSERT_EQ(list.size(), 2U);
    for (Leftover leftover : list) {
        EXPECT_TRUE(leftover.atWork) << leftover.path;
        leftover.atWork = false; // as if it had begun behind our look
        EXPECT_EQ(removalOf(leftover), Code::Exists);
        EXPECT_TRUE(isThere(leftover.path));
    }
    whole->reset();
    part->reset();
    for (const Leftover& leftover : found()) {
        EXPECT_FALSE(leftover.atWork);
        EXPECT_TRUE(removeLeftover(*disk, leftover));
    }
}

TEST_F(Leftovers, ARebuildThatIsJustBeginningIsNotDisturbed)
{
    const std::string path = folder.path(nameOf("a", "plan", ::getpid())); // made, not locked yet
    std::filesystem::create_directory(path);
    const std::vector<Leftover> list = found();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_TRUE(list[0].atWork);
    EXPECT_EQ(removalOf(list[0]), Code::Exists);
    EXPECT_TRUE(isThere(path));
}

TEST_F(Leftovers, WhatIsNotOursIsNeitherShownNorRemoved)
{
    const std::string digits = planDigits("plan");
    for (const std::string& name : {
             "a.ds-" + digits + "-1-0badf00d", // not hidden
             ".a.ds-" + digits + "-1-0badf00", // a digit less
             ".a.ds-" + digits + "-1-0badf00d.bak",
             ".a.ds-" + digits + "-x-0badf00d",
             ".a.ds-" + digits.substr(1) + "-1-0badf00d",
             ".a.ds-" + digits + "-sharedx",
             ".ds-" + digits + "-1-0badf00d", // of no destination
             std::string(".a.ds-tmp-1-0123456789abcdef"),
             std::string(".deltascope"),
         })
        left(name);
    folder.write(nameOf("other") + "/notes.txt", "called so, but holds something else");
    folder.write(nameOf("wrong", "another plan") + "/deltascope-plan.json", "plan");
    folder.write(nameOf("wrong", "another plan") + "/model.safetensors", "x");
    folder.write(sharedName("other") + "/notes.txt", "x");
    folder.write(nameOf("file"), "no folder");
    const std::string elsewhere = left("elsewhere");
    std::filesystem::create_directory_symlink(elsewhere, folder.path(nameOf("link")));
    EXPECT_TRUE(found().empty());
    for (const std::string& name : { nameOf("other"), nameOf("file"), nameOf("link"), std::string("elsewhere") }) {
        Leftover claimed;
        claimed.path = folder.path(name);
        EXPECT_EQ(removalOf(claimed), Code::NotFound) << name;
        EXPECT_TRUE(isThere(claimed.path)) << name;
    }
    EXPECT_TRUE(isThere(elsewhere + "/model.safetensors"));
}

TEST_F(Leftovers, AFolderThatIsNotThereIsSaid)
{
    const auto list = findLeftovers(*disk, folder.path("none"));
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, Code::NotFound);
}

TEST_F(Leftovers, OfLongNamesAreTheOnesOfTheirDestination)
{
    const std::string longest(255, 'x');
    EXPECT_EQ(stemOf("step_7"), "step_7");
    EXPECT_EQ(stemOf(std::string(214, 'x')), std::string(214, 'x'));
    EXPECT_LE(nameOf(stemOf(longest)).size(), 255U);
    EXPECT_NE(stemOf(longest), stemOf(std::string(254, 'x') + "y"));
    std::string name;
    for (int i = 0; i < 127; ++i)
        name += "\xC3\xA4";
    const std::string stem = stemOf(name);
    EXPECT_EQ(stem[stem.find('~') - 1], '\xA4') << "no character is cut";
    const std::string mine = left(nameOf(stemOf(longest)));
    const std::string other = left(nameOf(stemOf(std::string(254, 'x') + "y")));
    EXPECT_EQ(destinationOfLeftover(mine), nameInLeftovers(folder.path(longest)));
    EXPECT_NE(destinationOfLeftover(other), nameInLeftovers(folder.path(longest)));
    EXPECT_EQ(nameInLeftovers(folder.path("step_7")), folder.path("step_7"));
}

TEST_F(Leftovers, WhatChangedSinceItWasLookedAtIsNotRemoved)
{
    const std::string name = nameOf("a");
    const std::string path = left(name);
    const auto change = [&](const std::function<void()>& how) {
        const std::vector<Leftover> list = found();
        ASSERT_EQ(list.size(), 1U);
        how();
        EXPECT_EQ(removalOf(list[0]), Code::Exists);
        EXPECT_TRUE(isThere(path + "/deltascope-plan.json"));
    };
    change([&] { folder.write(name + "/model.safetensors", std::string(1000, 'y')); }); // of the same length
    change([&] { folder.write(name + "/more.safetensors", "x"); });
    change([&] { std::filesystem::remove(path + "/more.safetensors"); });
    change([&] { std::filesystem::create_directory(path + "/sub"); });
    change([&] { folder.write(name + "/sub/deep.txt", "x"); });
    change([&] { // another folder of this name, with the same files
        std::filesystem::rename(path, folder.path("away"));
        std::filesystem::copy(folder.path("away"), path, std::filesystem::copy_options::recursive);
    });
    for (const Leftover& leftover : found())
        EXPECT_TRUE(removeLeftover(*disk, leftover)) << "nothing changed";
    EXPECT_FALSE(isThere(path));
}

} // namespace
} // namespace deltascope
