#include "publish_fixture.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

// One publisher at a time: who holds a run, who takes it over, and what a publisher does that lost it.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::int64_t Minute = 60'000'000;

std::string leaseKey(std::int64_t number) { return fmt::format(".deltascope/v1/lease/publisher-{:08}.json", number); }

Json leaseOf(Publishing& p, std::int64_t number) { return Json::parse(readObject(*p.run, leaseKey(number))); }

/// The lease of somebody who holds the run: like one of this process, with some fields changed.
Json forged(Publishing& p, const Json& changes)
{
    Publishing other;
    EXPECT_TRUE(other.open()); // writes a lease and gives it back
    Json lease = leaseOf(other, 1);
    lease["released"] = false;
    lease["renewed_us"] = p.now;
    lease.update(changes);
    return lease;
}

void expectTaken(Publishing& p)
{
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_TRUE(p.publish(*publisher, 1));
}

void expectRefused(Publishing& p)
{
    const Error error = errorOf(p.open());
    EXPECT_EQ(error.code, Code::Exists);
    EXPECT_FALSE(error.action.empty());
    EXPECT_TRUE(p.keys().empty());
}

/// A process that has ended; nothing has asked how as long as this lives.
class EndedProcess {
public:
    EndedProcess()
        : m_pid(::fork())
    {
        if (m_pid == 0)
            ::_exit(0);
        siginfo_t info {};
        EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOWAIT), 0);
        std::ifstream file(fmt::format("/proc/{}/stat", m_pid));
        const std::string stat(std::istreambuf_iterator<char>(file), {});
        std::istringstream fields(stat.substr(stat.rfind(')') + 1));
        for (int i = 3; i <= 22; ++i)
            fields >> m_started;
    }
    ~EndedProcess() { reap(); }
    EndedProcess(const EndedProcess&) = delete;
    EndedProcess& operator=(const EndedProcess&) = delete;
    void reap()
    {
        if (!std::exchange(m_reaped, true))
            ::waitpid(m_pid, nullptr, 0);
    }
    Json fields() const { return { { "pid", m_pid }, { "started", m_started } }; }

private:
    pid_t m_pid;
    std::string m_started;
    bool m_reaped = false;
};

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
    EXPECT_FALSE(leaseOf(p, 7)["released"].get<bool>());
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

TEST(PublisherLease, AnotherContainerOfThisMachineIsAnotherHost)
{
    EndedProcess ended; // its number means nothing over there
    ended.reap();
    Publishing p;
    Json lease = forged(p, ended.fields());
    std::string host = lease["host"];
    ASSERT_NE(host.find("/pid:["), std::string::npos) << host;
    host.replace(host.rfind('/'), std::string::npos, "/pid:[1]");
    lease["host"] = host;
    ASSERT_TRUE(putText(*p.run, leaseKey(1), lease.dump()));
    expectRefused(p);
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

TEST(PublisherLease, AnotherHostIsBelievedForTenMinutes)
{
    for (const auto& [age, refused] :
         { std::pair<std::int64_t, bool> { 0, true }, { 9 * Minute, true }, { 11 * Minute, false } }) {
        SCOPED_TRACE(age);
        Publishing p;
        ASSERT_TRUE(putText(*p.run, leaseKey(1),
                            forged(p, { { "host", "elsewhere/boot" }, { "renewed_us", p.now - age } }).dump()));
        if (refused)
            expectRefused(p);
        else
            expectTaken(p);
    }
}

TEST(PublisherLease, TheRefusalNamesTheOtherHost)
{
    Publishing p;
    ASSERT_TRUE(putText(*p.run, leaseKey(1),
                        forged(p, { { "host", "elsewhere/boot" }, { "pid", 4711 }, { "actor", "nightly" } }).dump()));
    const Error error = errorOf(p.open());
    for (const char* part : { "nightly", "4711", "elsewhere" })
        EXPECT_NE(error.text.find(part), std::string::npos) << error.text;
    EXPECT_EQ(error.text.find("boot"), std::string::npos) << error.text;
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

TEST(PublisherLease, ALongPublicationRenewsIt)
{
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    const std::int64_t first = leaseOf(p, 1)["renewed_us"];
    p.now += Minute;
    ASSERT_TRUE(publisher->keepAlive(p.task));
    EXPECT_EQ(leaseOf(p, 1)["renewed_us"], first); // young enough
    p.now += 3 * Minute;
    ASSERT_TRUE(publisher->keepAlive(p.task));
    EXPECT_EQ(leaseOf(p, 1)["renewed_us"], p.now);
}

TEST(PublisherLease, WhoLostItPutsNothingMore)
{
    Publishing p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    const Chain next = p.state(2);
    ASSERT_TRUE(putText(*p.run, leaseKey(2), forged(p, { { "host", "elsewhere/boot" } }).dump()));
    const auto before = p.keys();
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(errorOf(publisher->publish(nullptr, next, "checkpoint-2", p.task)).code, Code::Exists);
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
    const Chain next = p.state(2, hooked);
    const auto before = p.keys();
    bool taken = false;
    hooked->onRead = [&](std::string_view, std::uint64_t) {
        if (!std::exchange(taken, true)) {
            EXPECT_TRUE(putText(*p.run, leaseKey(3), forged(p, { { "host", "elsewhere/boot" } }).dump()));
        }
    };
    EXPECT_EQ(errorOf(publisher->publish(nullptr, next, "checkpoint-2", p.task)).code, Code::Exists);
    EXPECT_TRUE(taken);
    EXPECT_EQ(p.keys(), before);
}

TEST(PublisherLease, GivingBackALostLeaseDoesNotTouchTheNewOne)
{
    Publishing p;
    const std::string theirs = forged(p, { { "host", "elsewhere/boot" } }).dump();
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
