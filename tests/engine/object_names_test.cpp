#include "catalog/object_names.h"

#include "deltascope/engine/object_store.h"
#include "support/temp_dir.h"

#include <algorithm>
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
