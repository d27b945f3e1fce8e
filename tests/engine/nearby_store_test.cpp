#include "store/nearby_store.h"

#include "support/any_task.h"
#include "support/counting_store.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"

#include <gtest/gtest.h>

// Small reads of one object that lie close together.

namespace deltascope {
namespace {

using test::anyTask;
using test::CountingStore;
using test::MemoryStore;
using test::putText;

/// A request takes as long as reading eight bytes.
class SlowStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits;
        traits.requestBytes = requestBytes;
        traits.keepsReads = keepsReads;
        return traits;
    }

    std::uint64_t requestBytes = 8;
    bool keepsReads = false;
};

class NearbyStoreTest : public testing::Test {
protected:
    NearbyStoreTest() { add(nearby); }
    void add(NearbyStore& to) const { to.add({ object }); }
    static std::string text(const NearbyStore& store, const ObjectRef& object, std::uint64_t offset, std::size_t bytes)
    {
        std::vector<std::byte> out(bytes);
        const Result<void> read = store.read(object, offset, out, anyTask());
        return read ? std::string(asText(out)) : std::string(word(read.error().code));
    }
    std::string text(std::uint64_t offset, std::size_t bytes) const { return text(nearby, "object", offset, bytes); }
    std::size_t reads() const { return counted->reads().size(); }

    std::shared_ptr<MemoryStore> stored = std::make_shared<MemoryStore>();
    ObjectInfo object = *putText(*stored, "object", "0123456789abcdefghij");
    std::shared_ptr<CountingStore> counted = std::make_shared<CountingStore>(stored);
    std::shared_ptr<SlowStore> slow = std::make_shared<SlowStore>(counted);
    NearbyStore nearby { slow };
};

TEST_F(NearbyStoreTest, WhatLiesBehindASmallReadComesAlong)
{
    EXPECT_EQ(text(2, 3), "234");
    EXPECT_EQ(text(5, 3), "567");
    EXPECT_EQ(text(8, 2), "89");
    EXPECT_EQ(reads(), 1U);
    EXPECT_EQ(text(9, 2), "9a") << "half of it was not taken along";
    EXPECT_EQ(reads(), 2U);
}

TEST_F(NearbyStoreTest, FollowsSeveralPlacesAtATime)
{
    for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(text(i, 1), std::string(1, static_cast<char>('0' + i)));
        EXPECT_EQ(text(10 + i, 1), std::string(1, static_cast<char>('a' + i)));
    }
    EXPECT_EQ(reads(), 2U);
}

TEST_F(NearbyStoreTest, TheEndOfTheObjectIsTheEnd)
{
    EXPECT_EQ(text(17, 2), "hi");
    EXPECT_EQ(text(19, 1), "j");
    EXPECT_EQ(reads(), 1U);
    EXPECT_EQ(text(18, 3), word(Code::Truncated));
    EXPECT_EQ(text(30, 1), word(Code::Truncated));
}

TEST_F(NearbyStoreTest, WhatCannotBeTakenAlongIsNoFaultOfTheRead)
{
    ASSERT_TRUE(putText(*stored, "object", "01234")); // cut since it was listed
    EXPECT_EQ(text(1, 3), "123");
    EXPECT_EQ(text(3, 3), word(Code::Truncated));
}

TEST_F(NearbyStoreTest, LargeReadsThoseOfAnIdentityAndOfOtherObjectsPass)
{
    ASSERT_TRUE(putText(*stored, "other", "others"));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(text(0, 8), "01234567");
        EXPECT_EQ(text(nearby, object, 0, 3), "012");
        EXPECT_EQ(text(nearby, "other", 0, 3), "oth");
    }
    EXPECT_EQ(reads(), 6U);
}

TEST_F(NearbyStoreTest, TakesSoMuchAlongAndNoMore)
{
    slow->requestBytes = NearbyStore::MostBytes / NearbyStore::Stretches / 2; // two objects may have their stretches
    NearbyStore bounded(slow);
    for (const char* key : { "a", "b", "c" }) {
        bounded.add({ *putText(*stored, key, "0123456789") });
        EXPECT_EQ(text(bounded, key, 0, 2), "01");
        EXPECT_EQ(text(bounded, key, 2, 2), "23");
    }
    EXPECT_EQ(reads(), 4U) << "the third one is read each time";
}

TEST_F(NearbyStoreTest, AStoreThatKeepsItsReadsIsAskedEachTime)
{
    slow->keepsReads = true;
    NearbyStore passing(slow);
    add(passing);
    EXPECT_EQ(text(passing, "object", 0, 2), "01");
    EXPECT_EQ(text(passing, "object", 2, 2), "23");
    EXPECT_EQ(reads(), 2U);
}

} // namespace
} // namespace deltascope
