#include "deltascope/engine/kept_listing.h"

#include "support/any_task.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"
#include "support/times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace deltascope::test {
namespace {

using test::Minute;
using test::Second;

/// Counts what listings ask for, and can hide a key from them.
class ListedStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        asked.push_back(request);
        if (fails)
            return fail(Code::Transient, "the store does not answer");
        DS_TRY(ListPage page, ForwardingStore::list(request, task));
        std::erase_if(page.objects, [&](const ObjectInfo& object) { return hidden.contains(object.key); });
        return page;
    }

    mutable std::vector<ListRequest> asked;
    std::set<std::string> hidden;
    bool fails = false;
};

std::string delta(int step) { return fmt::format("deltas/step_{:06}", step); }

/// Lists two keys a page.
class PagedStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        ListRequest two = request;
        two.maxKeys = 2;
        return ForwardingStore::list(two, task);
    }
};

class KeptListingTest : public testing::Test {
protected:
    void put(const std::string& key, std::string_view text = "x")
    {
        const MemoryPayload bytes(asBytes(text));
        ASSERT_TRUE(m_memory->put(key, bytes, PutMode::Replace, anyTask()));
    }
    /// A run with more objects than one request lists.
    void putRun(int steps)
    {
        put("anchors/step_000001");
        for (int step = 2; step <= steps; ++step)
            put(delta(step));
        put(".deltascope/v1/replicas/r1.json");
        put(".deltascope/v1/spans/r1/00000001.jsonl");
    }
    std::vector<ObjectInfo> look(bool changed = true)
    {
        m_store.asked.clear();
        Result<std::vector<ObjectInfo>> objects = m_listing.look(m_store, changed, anyTask());
        EXPECT_TRUE(objects) << objects.error().text;
        if (!objects)
            return {};
        std::vector<VersionObjects> versions;
        std::vector<ObjectInfo> beside;
        for (const ObjectInfo& object : *objects) {
            if (object.key.starts_with("."))
                beside.push_back(object);
            else
                versions.push_back(
                    { static_cast<std::int64_t>(versions.size()), object.key, { object }, {}, {}, 0, {}, {} });
        }
        m_listing.growsAt(growthPlaces(versions, beside));
        return *objects;
    }
    bool has(const std::vector<ObjectInfo>& objects, const std::string& key) const
    {
        for (const ObjectInfo& object : objects) {
            if (object.key == key)
                return true;
        }
        return false;
    }
    bool listedWhole() const
    {
        return !m_store.asked.empty() && m_store.asked.front().prefix.empty()
            && m_store.asked.front().startAfter.empty();
    }

    std::shared_ptr<MemoryStore> m_memory = std::make_shared<MemoryStore>();
    ListedStore m_store { m_memory };
    std::int64_t m_now = 1'000 * Minute;
    KeptListing m_listing { [this] { return m_now; } };
};

TEST_F(KeptListingTest, ANewStepCostsTheListingOfWhereItCanAppear)
{
    putRun(3'000);
    EXPECT_EQ(look().size(), 3'002U);
    EXPECT_TRUE(listedWhole());
    put(delta(3'001));
    put(".deltascope/v1/spans/r1/00000002.jsonl");
    put(".deltascope/v1/replicas/r1.json", "newer");
    m_now += Second;
    const std::vector<ObjectInfo> objects = look();
    EXPECT_EQ(objects.size(), 3'004U);
    EXPECT_TRUE(has(objects, delta(3'001)));
    EXPECT_TRUE(has(objects, ".deltascope/v1/spans/r1/00000002.jsonl"));
    EXPECT_EQ(m_store.asked.size(), 5U) << "anchors, deltas, replicas, the spans of r1 and of actors behind it";
    for (const ListRequest& request : m_store.asked)
        EXPECT_FALSE(request.prefix.empty());
}

TEST_F(KeptListingTest, NothingIsAskedWhereNothingChanged)
{
    putRun(1'500);
    look();
    EXPECT_EQ(look(false).size(), 1'502U);
    EXPECT_TRUE(m_store.asked.empty());
    m_now += 10 * Minute;
    look(false);
    EXPECT_TRUE(listedWhole()) << "a whole listing is due";
}

TEST_F(KeptListingTest, ASmallSourceIsListedWhole)
{
    putRun(10);
    look();
    look();
    EXPECT_TRUE(listedWhole());
}

TEST_F(KeptListingTest, WhatWasOverwrittenShowsInAWholeListing)
{
    putRun(1'500);
    const std::string before = look()[700].identity;
    put(look()[700].key, "other bytes");
    m_now += Second;
    EXPECT_EQ(look()[700].identity, before);
    m_now += 10 * Minute;
    EXPECT_NE(look()[700].identity, before);
    EXPECT_EQ(m_listing.wholeAtUs(), m_now);
}

TEST_F(KeptListingTest, AKeyIsGoneOnlyOnceTwoListingsAMinuteApartLackItAndTheStoreSaysSo)
{
    putRun(1'500);
    look();
    ASSERT_TRUE(m_memory->remove(delta(700)));
    m_now += 10 * Minute;
    EXPECT_TRUE(has(look(), delta(700))) << "one listing may be wrong";
    m_now += 30 * Second;
    EXPECT_TRUE(has(look(), delta(700)));
    m_now += 31 * Second;
    EXPECT_FALSE(has(look(false), delta(700))) << "the second listing is due by itself";
}

TEST_F(KeptListingTest, ListingsThatHideAKeyDoNotDeleteIt)
{
    putRun(1'500);
    look();
    m_store.hidden.insert(delta(700));
    for (int i = 0; i < 5; ++i) {
        m_now += 10 * Minute;
        EXPECT_TRUE(has(look(), delta(700))) << "the store has it when it is asked for it";
    }
}

TEST_F(KeptListingTest, AFailedListingLosesNothing)
{
    putRun(1'500);
    look();
    m_store.fails = true;
    EXPECT_EQ(m_listing.look(m_store, true, anyTask()).error().code, Code::Transient);
    m_store.fails = false;
    EXPECT_EQ(look().size(), 1'502U);
}

TEST_F(KeptListingTest, AfterSuspicionEverythingIsListed)
{
    putRun(1'500);
    look();
    m_listing.suspect();
    look(false);
    EXPECT_TRUE(listedWhole());
}

TEST(GrowthPlaces, ArePlacesBehindNamesThatGrowWithTheirSteps)
{
    const auto placesOf = [](const std::vector<std::string>& names) {
        std::vector<VersionObjects> versions;
        for (const std::string& name : names)
            versions.push_back({ static_cast<std::int64_t>(versions.size()), name, {}, {}, {}, 0, {}, {} });
        return growthPlaces(versions, {}).front();
    };
    EXPECT_EQ(placesOf({ "weight_v000001", "weight_v000002" }), (GrowthPlace { "", "weight_v000002" }));
    EXPECT_EQ(placesOf({ "run/step_01", "run/step_02" }), (GrowthPlace { "run/", "run/step_02" }));
    EXPECT_EQ(placesOf({ "run/step_9", "run/step_10" }), (GrowthPlace { "run/", "" })) << "step_11 sorts before step_9";
    EXPECT_TRUE(growthPlaces({}, {}).empty());
}

TEST_F(KeptListingTest, TellsWhatAWholeListingHoldsByNow)
{
    putRun(4);
    const PagedStore paged(m_memory);
    std::vector<std::string> told;
    const auto seen = [&](const std::vector<ObjectInfo>& objects) {
        told.push_back(fmt::format("{} {}", objects.size(), objects.back().key));
    };
    ASSERT_TRUE(m_listing.look(paged, true, anyTask(), seen));
    EXPECT_EQ(told,
              (std::vector<std::string> { "2 .deltascope/v1/spans/r1/00000001.jsonl", "4 deltas/step_000002",
                                          "6 deltas/step_000004" }));
}

} // namespace
} // namespace deltascope::test
