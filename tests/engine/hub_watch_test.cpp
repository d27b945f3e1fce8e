#include "store/hub/hub_watch.h"

#include "engine/hub_fixture.h"
#include "support/any_task.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

// What a watch does with each thing that a stream of events may do. Pauses take no time; those that are not over within
// a request are seen by what is asked next.

namespace deltascope::hub {
namespace {

using namespace std::chrono_literals;
using Connection = test::ScriptedServer::Connection;
using test::answerText;
using test::anyTask;

const std::string StreamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

std::string eventText(const std::string& name, const std::string& data)
{
    return "event: " + name + "\ndata: " + data + "\n\n";
}

std::string changeText(const std::string& cursor, const std::string& path)
{
    return eventText("changes", R"({"cursor":")" + cursor + R"(","changes":[{"path":")" + path + R"(","op":"add"}]})");
}

/// A bucket whose streams a test writes, one after the other; the last one is repeated.
class EventHub {
public:
    using Stream = std::function<void(Connection&)>;

    explicit EventHub(std::vector<Stream> streams)
        : m_streams(std::move(streams))
        , m_server([this](const test::ScriptedServer::Request& request, Connection& connection) {
            serve(request, connection);
        })
    {
        m_account.endpoint = m_server.url("");
        m_account.token = "hf_very_secret";
        m_account.clock = clock;
    }

    Result<std::unique_ptr<StoreWatch>> watch(std::string front = "")
    {
        auto api = HubApi::make(m_account, std::make_shared<http::Client>());
        if (!api)
            return fail(std::move(api.error()));
        times.poll = 20ms;
        return watchBucket(std::make_shared<const BucketApi>(*api, "me", "runs"), std::move(front),
                           std::make_shared<HubSignal>(), times);
    }

    /// "events?…" and "info", in the order in which they were asked for.
    std::vector<std::string> asked() const
    {
        std::vector<std::string> all;
        for (const auto& request : m_server.requests()) {
            const std::string target = request.target();
            const std::size_t at = target.find("/events");
            all.push_back(at == std::string::npos ? "info" : target.substr(at + 1));
        }
        return all;
    }
    std::size_t count(const std::string& what) const
    {
        const auto all = asked();
        return static_cast<std::size_t>(std::count(all.begin(), all.end(), what));
    }
    /// Waits until so many requests came.
    void untilAsked(std::size_t number) const
    {
        while (m_server.requests().size() < number)
            std::this_thread::sleep_for(2ms);
    }

    std::shared_ptr<QuickClock> clock = std::make_shared<QuickClock>();
    FollowTimes times;
    std::atomic<int> updates = 1; ///< "updatedAt"
    std::atomic<int> infoStatus = 200;

private:
    void serve(const test::ScriptedServer::Request& request, Connection& connection)
    {
        if (request.target().find("/events") == std::string::npos) {
            connection.send(
                answerText(infoStatus, R"({"id":"me/runs","updatedAt":"t)" + std::to_string(updates) + "\"}"));
            return;
        }
        const std::size_t number = m_number++;
        m_streams[std::min(number, m_streams.size() - 1)](connection);
        connection.close();
    }

    const std::vector<Stream> m_streams;
    std::atomic<std::size_t> m_number = 0;
    HubAccount m_account;
    test::ScriptedServer m_server; ///< last: its threads use all of the above
};

void holdReady(Connection& connection)
{
    connection.send(StreamHead + eventText("ready", "{}"));
    connection.hold();
}

EventHub::Stream answering(std::string text)
{
    return [text = std::move(text)](Connection& connection) { connection.send(text); };
}

TEST(HubWatch, TellsChangesBelowItsPrefixAlone)
{
    std::atomic<bool> go = false;
    EventHub hub({ [&](Connection& connection) {
        connection.send(StreamHead + eventText("ready", R"({"cursor":"c1"})") + changeText("c2", "other/a"));
        while (!go)
            std::this_thread::sleep_for(1ms);
        connection.send(changeText("c3", "run/a"));
        connection.hold();
    } });
    auto watch = hub.watch("run/");
    ASSERT_TRUE(watch);
    hub.untilAsked(2);
    EXPECT_FALSE(*(*watch)->wait(50ms, anyTask()));
    go = true;
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
    EXPECT_FALSE(*(*watch)->wait(0ms, anyTask()));
    EXPECT_EQ(hub.asked(), (std::vector<std::string> { "info", "events?since=t1" }));
}

TEST(HubWatch, GoesOnBehindTheLastCursor)
{
    EventHub hub({ answering(StreamHead + changeText("c 2", "a") + eventText("ready", "{}")),
                   answering(StreamHead + eventText("ready", R"({"cursor":"c3"})") + ": ping\n\n"),
                   answering(StreamHead + eventText("ready", "{}") + eventText("reconnect", R"({"cursor":"c4"})")),
                   holdReady });
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    hub.untilAsked(5);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
    EXPECT_EQ(hub.asked(),
              (std::vector<std::string> { "info", "events?since=t1", "events?cursor=c%202", "events?cursor=c3",
                                          "events?cursor=c4" }));
    const auto pauses = hub.clock->pauses();
    EXPECT_EQ(pauses, std::vector<std::chrono::milliseconds>(3, 1s)); // all of them were healthy
}

TEST(HubWatch, AResetIsALookAndANewBeginning)
{
    EventHub hub({ answering(StreamHead + eventText("reset", R"({"reason":"cursor_too_old"})")), holdReady });
    hub.updates = 7;
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
    hub.untilAsked(4);
    EXPECT_EQ(hub.asked(), (std::vector<std::string> { "info", "events?since=t7", "info", "events?since=t7" }));
}

TEST(HubWatch, UnknownEventsAreALook)
{
    for (const std::string& text : { eventText("novelty", "{}"), eventText("changes", "[1"),
                                     eventText("changes", R"({"cursor":"c","changes":[{"op":"add"}]})") }) {
        EventHub hub({ [&](Connection& connection) {
            connection.send(StreamHead + eventText("ready", "{}") + text);
            connection.hold();
        } });
        auto watch = hub.watch();
        ASSERT_TRUE(watch);
        EXPECT_TRUE(*(*watch)->wait(10s, anyTask())) << text;
    }
}

TEST(HubWatch, StepsBackWhereThePointIsRefused)
{
    EventHub hub({ answering(StreamHead + eventText("ready", R"({"cursor":"c1"})")), answering(answerText(400, "{}")),
                   answering(answerText(400, "{}")), holdReady });
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    hub.untilAsked(6);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
    EXPECT_EQ(hub.asked(),
              (std::vector<std::string> { "info", "events?since=t1", "events?cursor=c1", "info", "events?since=t1",
                                          "events" }));
}

TEST(HubWatch, LooksWhetherTheBucketMovesWhereThereIsNoStream)
{
    const std::vector<std::string> refusals {
        answerText(401, "{}"), answerText(403, "{}"), answerText(404, "{}"),
        answerText(405, "{}"), answerText(501, "{}"), answerText(200, "<html>", "Content-Type: text/html\r\n")
    };
    for (const std::string& refusal : refusals) {
        EventHub hub({ answering(refusal) });
        auto watch = hub.watch();
        ASSERT_TRUE(watch);
        EXPECT_TRUE(*(*watch)->wait(10s, anyTask())) << refusal; // what was between is not known
        hub.updates = 2;
        EXPECT_TRUE(*(*watch)->wait(10s, anyTask())) << refusal;
        const std::size_t before = hub.asked().size();
        hub.untilAsked(before + 3);
        EXPECT_FALSE(*(*watch)->wait(0ms, anyTask())) << refusal;
        const std::vector<std::string> asked = hub.asked();
        const auto looks = std::count(asked.begin(), asked.end(), "info");
        EXPECT_EQ(static_cast<std::ptrdiff_t>(asked.size()) - looks, 1) << refusal; // the stream was tried once
    }
}

TEST(HubWatch, PollsAfterThreeStreamsWithoutReadyAndTriesAgain)
{
    const auto cut = answering(StreamHead + ": nothing\n\n");
    EventHub hub({ cut, answering(answerText(503, "", "Retry-After: 7\r\n")), cut, holdReady });
    hub.times.streamAgain = 100ms; // five polls
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
    while (hub.asked().size() - hub.count("info") < 4)
        std::this_thread::sleep_for(2ms);
    EXPECT_GE(hub.count("info"), 6U);
    const auto pauses = hub.clock->pauses();
    ASSERT_GE(pauses.size(), 2U);
    EXPECT_EQ(pauses[0], 10s);
    EXPECT_EQ(pauses[1], 7s);
}

TEST(HubWatch, AnEventThatIsTooLargeIsAReset)
{
    EventHub hub({ [](Connection& connection) {
                      connection.send(StreamHead + "data: ");
                      const std::string piece(1 << 20, 'x');
                      for (int i = 0; i < 40 && connection.send(piece); ++i) { }
                  },
                   holdReady });
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    EXPECT_TRUE(*(*watch)->wait(30s, anyTask()));
    hub.untilAsked(4);
    EXPECT_EQ(hub.asked().back(), "events?since=t1");
}

TEST(HubWatch, AStreamThatIsSilentIsGivenUp)
{
    EventHub hub({ [](Connection& connection) {
                      connection.send(StreamHead + eventText("ready", R"({"cursor":"c1"})"));
                      connection.hold();
                  },
                   holdReady });
    hub.times.silence = 200ms;
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    hub.untilAsked(3);
    EXPECT_EQ(hub.asked().at(2), "events?cursor=c1");
}

TEST(HubWatch, AWatchWhoseBeginningIsNotKnownBeginsWithALook)
{
    EventHub hub({ holdReady });
    hub.infoStatus = 500;
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
}

TEST(HubWatch, ABucketThatIsNotThereIsToldAtOnce)
{
    EventHub hub({ holdReady });
    for (const auto& [status, code] : { std::pair(404, Code::NotFound), std::pair(401, Code::Auth) }) {
        hub.infoStatus = status;
        const auto watch = hub.watch();
        ASSERT_FALSE(watch);
        EXPECT_EQ(watch.error().code, code);
        EXPECT_TRUE(isDiscreet(watch.error()));
    }
}

TEST(HubWatch, LooksAnywayNowAndThen)
{
    EventHub hub({ holdReady });
    hub.times.lookAnyway = 30ms;
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    EXPECT_TRUE(*(*watch)->wait(10s, anyTask()));
}

TEST(HubWatch, EndsWithAStreamThatIsOpen)
{
    EventHub hub({ holdReady });
    auto watch = hub.watch();
    ASSERT_TRUE(watch);
    hub.untilAsked(2);
    watch->reset(); // hangs if it waits for the stream
    SUCCEED();
}

} // namespace
} // namespace deltascope::hub
