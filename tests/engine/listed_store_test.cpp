#include "store/listed_store.h"

#include "support/any_task.h"
#include "support/counting_store.h"
#include "support/memory_store.h"

#include <gtest/gtest.h>

// A store as a listing has shown it.

namespace deltascope {
namespace {

using test::anyTask;
using test::CountingStore;
using test::MemoryStore;
using test::putText;

class ListedStoreTest : public testing::Test {
protected:
    ListedStoreTest()
    {
        first = *putText(*stored, "object", "old bytes");
        *putText(*stored, "unlisted", "others");
        listed.add({ first });
    }
    std::string text(const ObjectRef& object, std::size_t bytes = 3)
    {
        std::vector<std::byte> out(bytes);
        const Result<void> read = listed.read(object, 0, out, anyTask());
        return read ? std::string(asText(out)) : std::string(word(read.error().code));
    }

    std::shared_ptr<MemoryStore> stored = std::make_shared<MemoryStore>();
    std::shared_ptr<CountingStore> counted = std::make_shared<CountingStore>(stored);
    ListedStore listed { counted };
    ObjectInfo first;
};

TEST_F(ListedStoreTest, ReadsThatNameNoIdentityAreOfTheListedOne)
{
    EXPECT_EQ(text("object"), "old");
    EXPECT_EQ(text("unlisted"), "oth");
    ASSERT_EQ(counted->reads().size(), 2U);
    EXPECT_TRUE(counted->reads()[0].isBound);
    EXPECT_FALSE(counted->reads()[1].isBound);
    EXPECT_EQ(*listed.stat("object", anyTask()), first);
    EXPECT_EQ(counted->stats(), 0U);
    EXPECT_EQ(listed.stat("unlisted", anyTask())->sizeBytes, 6U);
    EXPECT_EQ(counted->stats(), 1U);
}

TEST_F(ListedStoreTest, WhatHasTakenTheirPlaceIsNoticedAndUsed)
{
    const ObjectInfo now = *putText(*stored, "object", "new");
    EXPECT_EQ(*listed.stat("object", anyTask()), first); // nobody has read it yet
    EXPECT_EQ(text(first), "DS-REWRITTEN");
    EXPECT_EQ(*listed.stat("object", anyTask()), now);
    EXPECT_EQ(text("object"), "new");
    EXPECT_EQ(text(now), "new");
    EXPECT_EQ(text(first), "DS-REWRITTEN");
}

TEST_F(ListedStoreTest, SoDoReadsInABatch)
{
    *putText(*stored, "object", "new");
    std::vector<std::byte> a(3);
    std::vector<std::byte> b(3);
    std::vector<std::byte> c(3);
    const auto outcomes = listed.readMany({ { "object", 0, a }, { first, 0, b }, { "unlisted", 0, c } }, anyTask());
    ASSERT_EQ(outcomes.size(), 3U);
    ASSERT_TRUE(outcomes[0]);
    EXPECT_EQ(asText(a), "new");
    ASSERT_FALSE(outcomes[1]);
    EXPECT_EQ(outcomes[1].error().code, Code::Rewritten);
    EXPECT_TRUE(outcomes[2]);
    EXPECT_EQ(counted->batches(), 1U);
    EXPECT_EQ(text("object"), "new");
}

/// What reads a whole object looks at it again where it has changed since the listing.
TEST_F(ListedStoreTest, AWholeObjectIsReadAsItIsNow)
{
    *putText(*stored, "object", "something longer");
    const auto bytes = readWhole(listed, "object", 100, anyTask());
    ASSERT_TRUE(bytes) << bytes.error().text;
    EXPECT_EQ(asText(*bytes), "something longer");
    EXPECT_EQ(readWhole(listed, "object", 10, anyTask()).error().code, Code::Hostile);
}

TEST_F(ListedStoreTest, IsForReading) { EXPECT_EQ(putText(listed, "object", "x").error().code, Code::Internal); }

} // namespace
} // namespace deltascope
