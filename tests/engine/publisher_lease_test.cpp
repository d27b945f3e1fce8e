#include "lease_fixture.h"
#include "support/any_task.h"
#include "support/eventually.h"

// One publisher at a time: who holds a run, who takes it over, and what a publisher does that lost it.

namespace deltascope {
namespace {

using namespace layout_test;

TEST(PublisherLease, ASecondPublisherIsRefusedUntilTheFirstIsGone)
{
    Publishing p;
    {
        auto first = p.open();
        ASSERT_TRUE(first);
        p.options.actor = "second";
        const Error error = errorOf(p.open());
        EXPECT_EQ(error.code, Code::Exists);
        EXPECT_NE(error.text.find("publisher"), std::string::npos) << error.text;
        EXPECT_NE(error.text.find(std::to_string(::getpid())), std::string::npos) << error.text;
        ASSERT_TRUE(p.publish(*first, 1)); // the refused one took nothing away
    }
    expectTaken(p);
    EXPECT_TRUE(leaseOf(p, 2)["released"].get<bool>());
}

TEST(PublisherLease, AFailedStartGivesItBack)
{
    Publishing p;
    p.publishAll(1, 1);
    p.options.layout = "slime-v2";
    EXPECT_EQ(errorOf(p.open()).code, Code::Usage);
    p.options.layout = "trl-v2";
    EXPECT_TRUE(p.open());
}

TEST(PublisherLease, ALivingProcessOfThisHostIsNeverTakenOver)
{
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(1), forged(p, { { "renewed_us", p.now - 600 * Minute } }).dump()));
    expectRefused(p);
}

TEST(PublisherLease, ADeadProcessOfThisHostIsTakenOver)
{
    EndedProcess ended;
    ended.reap();
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(7), forged(p, ended.fields()).dump()));
    expectTaken(p);
    EXPECT_EQ(leaseOf(p, 8)["pid"], ::getpid()); // behind it, not in its place
    EXPECT_EQ(p.run->stat(leaseKey(7), p.task).error().code, Code::NotFound); // the new holder removes it
}

TEST(PublisherLease, AnEndedProcessThatNobodyAskedAboutIsTakenOver)
{
    const EndedProcess ended;
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(1), forged(p, ended.fields()).dump()));
    expectTaken(p);
}

TEST(PublisherLease, ALaterProcessWithTheSameNumberIsNotTheHolder)
{
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(1), forged(p, { { "started", "12" } }).dump()));
    expectTaken(p);
}

TEST(PublisherLease, ALeaseThatIsGivenBackWhileItIsReadIsFree)
{
    Publishing p;
    ASSERT_TRUE(p.open());
    const std::string released = readObject(*p.run, leaseKey(1));
    Json held = Json::parse(released);
    held["released"] = false;
    ASSERT_TRUE(putText(*p.run, leaseKey(1), held.dump()));
    const auto hooked = std::make_shared<ReadHookStore>(p.run);
    bool givenBack = false;
    hooked->onRead = [&](std::string_view key, std::uint64_t) {
        if (key == leaseKey(1) && !std::exchange(givenBack, true)) {
            EXPECT_TRUE(putText(*p.run, key, released + " "));
        }
    };
    const auto publisher = Publisher::open(p.bench, hooked, p.base, p.options, p.task);
    EXPECT_TRUE(publisher) << publisher.error().text;
    EXPECT_TRUE(givenBack);
}

TEST(PublisherLease, WhatIsNoLeaseHoldsNothing)
{
    for (const char* text :
         { "", "{", "[]", "{\"actor\":1}", "null", "{\"actor\":\"a\",\"host\":\"b\",\"pid\":\"c\"}" }) {
        SCOPED_TRACE(text);
        Publishing p;
        ASSERT_TRUE(putText(*p.run, leaseKey(1), text));
        expectTaken(p);
    }
}

TEST(PublisherLease, WhatHasNoNameOfALeaseIsIgnored)
{
    for (const char* name : { "publisher-x.json", "publisher-00000009.json.bak", "publisher-9.json", "publisher-.json",
                              "publisher-zzzzzzzz.json", "publisher-9223372036854775807.json",
                              "publisher--0000001.json", "publisherless", "readme" }) {
        SCOPED_TRACE(name);
        Publishing p;
        const std::string key = fmt::format(".deltascope/v1/lease/{}", name);
        ASSERT_TRUE(putText(*p.run, key, forged(p, Json::object()).dump())); // of a living process of this host
        auto first = p.open();
        ASSERT_TRUE(first) << first.error().text;
        EXPECT_EQ(errorOf(p.open()).code, Code::Exists); // and the real one is seen beside it
        EXPECT_EQ(leaseOf(p, 1)["pid"], ::getpid());
        EXPECT_TRUE(p.publish(*first, 1));
        EXPECT_TRUE(p.run->stat(key, test::anyTask()));
    }
}

TEST(PublisherLease, NumbersGoOnBehindEightDigits)
{
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(99'999'999), forged(p, { { "released", true } }).dump()));
    for (const std::int64_t number : { 100'000'000, 100'000'001 }) {
        expectTaken(p);
        EXPECT_TRUE(leaseOf(p, number)["released"].get<bool>());
    }
}

TEST(PublisherLease, ItIsRenewedWhateverItsHolderDoes)
{
    Publishing p;
    p.options.lease.life = std::chrono::milliseconds(100);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    for (int again = 0; again < 3; ++again) {
        const auto before = p.run->stat(leaseKey(1), test::anyTask());
        ASSERT_TRUE(before);
        EXPECT_TRUE(test::eventually([&] {
            const auto now = p.run->stat(leaseKey(1), test::anyTask());
            return now && now->identity != before->identity;
        }));
    }
    EXPECT_TRUE(publisher->keepAlive(p.task)); // and is still ours
    EXPECT_FALSE(leaseOf(p, 1)["released"].get<bool>());
}

TEST(PublisherLease, ALeaseThatSomebodyElseWroteIsLost)
{
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(putText(*p.run, leaseKey(1), forged(p, { { "host", "elsewhere/boot" } }).dump()));
    EXPECT_EQ(errorOf(publisher->keepAlive(p.task)).code, Code::Exists);
}

TEST(PublisherLease, ALeaseThatIsCopiedInPlaceIsStillOurs)
{
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(putText(*p.run, leaseKey(1), readObject(*p.run, leaseKey(1)))); // another identity, the same bytes
    EXPECT_TRUE(publisher->keepAlive(p.task));
    ASSERT_TRUE(p.run->remove(leaseKey(1)));
    EXPECT_EQ(errorOf(publisher->keepAlive(p.task)).code, Code::Exists);
}

TEST(PublisherLease, WhoLostItPutsNothingMore)
{
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    const PathPtr next = p.state(2);
    ASSERT_TRUE(putText(*p.run, leaseKey(2), forged(p, { { "host", "elsewhere/boot" } }).dump()));
    const auto before = p.keys();
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(errorOf(publisher->publish(nullptr, *next, "checkpoint-2", p.task)).code, Code::Exists);
        EXPECT_EQ(errorOf(publisher->keepAlive(p.task)).code, Code::Exists);
    }
    EXPECT_EQ(p.keys(), before);
}

TEST(PublisherLease, WhoLostItWhileBuildingPutsNothing)
{
    Publishing p;
    p.publishAll(1, 1);
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    p.drop(2);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    const PathPtr next = p.state(2, hooked);
    const auto before = p.keys();
    bool taken = false;
    hooked->onRead = [&](std::string_view, std::uint64_t) {
        if (!std::exchange(taken, true)) {
            EXPECT_TRUE(putText(*p.run, leaseKey(3), forged(p, { { "host", "elsewhere/boot" } }).dump()));
        }
    };
    EXPECT_EQ(errorOf(publisher->publish(nullptr, *next, "checkpoint-2", p.task)).code, Code::Exists);
    EXPECT_TRUE(taken);
    EXPECT_EQ(p.keys(), before);
}

TEST(PublisherLease, GivingBackALostLeaseDoesNotTouchTheNewOne)
{
    Publishing p;
    const std::string theirs = forged(p, Json::object()).dump();
    {
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        ASSERT_TRUE(putText(*p.run, leaseKey(2), theirs));
    }
    EXPECT_EQ(readObject(*p.run, leaseKey(2)), theirs);
    EXPECT_EQ(errorOf(p.open()).code, Code::Exists);
}

} // namespace
} // namespace deltascope
