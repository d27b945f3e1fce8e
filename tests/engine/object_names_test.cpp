#include "catalog/object_names.h"

#include "deltascope/engine/object_store.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

using Names = std::vector<ObjectName>;

TEST(ObjectNames, EveryFolderAroundAnObjectMayBeItsSource)
{
    EXPECT_EQ(namesOf("file:///a/b", "c/d/e"),
              (Names { { "file:///a/b", "c/d/e" },
                       { "file:///a", "b/c/d/e" },
                       { "file:///", "a/b/c/d/e" },
                       { "file:///a/b/c", "d/e" },
                       { "file:///a/b/c/d", "e" } }));
}

TEST(ObjectNames, TheWholeDiskIsAFolderToo)
{
    EXPECT_EQ(namesOf("file:///", "a/b"), (Names { { "file:///", "a/b" }, { "file:///a", "b" } }));
}

TEST(ObjectNames, OptionsOfAStoreStayBehindItsPath)
{
    EXPECT_EQ(namesOf("s3://bucket/run?endpoint=http://host:1", "deltas/x"),
              (Names { { "s3://bucket/run?endpoint=http://host:1", "deltas/x" },
                       { "s3://bucket?endpoint=http://host:1", "run/deltas/x" },
                       { "s3://bucket/run/deltas?endpoint=http://host:1", "x" } }));
}

TEST(ObjectNames, AStoreWithoutFoldersAroundItIsLeftAsItIs)
{
    EXPECT_EQ(namesOf("memory:///", "x"), (Names { { "memory:///", "x" } }));
    EXPECT_EQ(namesOf("s3://bucket", "x"), (Names { { "s3://bucket", "x" } }));
    EXPECT_EQ(namesOf("s", "x"), (Names { { "s", "x" } }));
}

TEST(ObjectNames, AreThoseOfTheFileBehindALinkAsWell)
{
    const test::TempDir folder;
    const std::string root = std::filesystem::canonical(folder.path()).string();
    std::filesystem::create_directories(root + "/run/checkpoint-2");
    std::filesystem::create_directories(root + "/other");
    std::ofstream(root + "/run/checkpoint-2/x") << "bytes";
    std::filesystem::create_symlink("../run/checkpoint-2/x", root + "/other/x");
    std::filesystem::create_directory_symlink(root + "/run/checkpoint-2", root + "/other/folder");
    std::filesystem::create_symlink("nowhere", root + "/other/lost");
    const auto contains = [](const Names& names, const ObjectName& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const std::string key : { "x", "folder/x" }) {
        const Names names = namesOf("file://" + root + "/other", key);
        EXPECT_EQ(names.front(), (ObjectName { "file://" + root + "/other", key }));
        EXPECT_TRUE(contains(names, { "file://" + root + "/run", "checkpoint-2/x" })) << key;
        EXPECT_TRUE(contains(names, { "file://" + root + "/run/checkpoint-2", "x" })) << key;
    }
    for (const std::string key : { "lost", "absent" })
        EXPECT_FALSE(contains(namesOf("file://" + root + "/other", key), { "file://" + root + "/run", key }));
    const Names direct = namesOf("file://" + root + "/run", "checkpoint-2/x");
    EXPECT_FALSE(contains(direct, { "file://" + root + "/other", "x" }));
}

/// The stores write their addresses themselves; what is derived from one has to be what the other says.
TEST(ObjectNames, AreThoseOfTheStores)
{
    const test::TempDir folder;
    folder.write("my runs/a+b #1/deltas (old)/x y.bin", "bytes");
    const auto uriOf = [&](const std::string& at) { return (*openLocalStore(folder.path(at)))->uri(); };
    const ObjectName whole { uriOf("my runs"), "a+b #1/deltas (old)/x y.bin" };
    const ObjectName run { uriOf("my runs/a+b #1"), "deltas (old)/x y.bin" };
    const ObjectName inner { uriOf("my runs/a+b #1/deltas (old)"), "x y.bin" };
    for (const ObjectName& given : { whole, run, inner }) {
        const Names names = namesOf(given.source, given.key);
        for (const ObjectName& wanted : { whole, run, inner })
            EXPECT_EQ(std::count(names.begin(), names.end(), wanted), 1) << given.source << ' ' << wanted.source;
    }
}

} // namespace
} // namespace deltascope
