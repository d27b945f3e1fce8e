#include "server/event_hub.h"

#include <gtest/gtest.h>
#include <thread>

// Streams read from positions in a ring: nothing is lost silently, nothing is sent twice, and a key is held back to ten
// events a second.

namespace deltascope::server {
namespace {

using namespace std::chrono_literals;

class EventHubTest : public testing::Test {
protected:
    /// Topic and data of each frame from a position on: "step {1}".
    std::vector<std::string> texts(std::uint64_t position, const EventHub::Filter& filter = {})
    {
        std::vector<std::string> out;
        for (const EventHub::Frame& frame : m_hub.read(position, filter, 1 << 20).frames)
            out.push_back(field(*frame, "event: ") + " " + field(*frame, "data: "));
        return out;
    }

    static std::string field(const std::string& frame, const std::string& name)
    {
        const std::size_t at = frame.find(name) + name.size();
        return frame.substr(at, frame.find('\n', at) - at);
    }

    EventHub::Clock::time_point m_now {};
    EventHub m_hub { [this] { return m_now; } };
};

using Texts = std::vector<std::string>;

TEST_F(EventHubTest, GivesEventsInOrderAndOnce)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("step", "r", "{1}");
    m_hub.publish("task", "r", "{2}");
    const EventHub::Batch batch = m_hub.read(start, {}, 1 << 20);
    EXPECT_EQ(texts(start), (Texts { "step {1}", "task {2}" }));
    EXPECT_TRUE(m_hub.read(batch.next, {}, 1 << 20).frames.empty());
}

TEST_F(EventHubTest, FramesEndWithAnEmptyLineAndCarryAnId)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("step", "r", "{\n\"a\": 1\r\n}");
    const std::string frame = *m_hub.read(start, {}, 1 << 20).frames.at(0);
    EXPECT_EQ(frame, "id: " + m_hub.idAt(m_hub.end()) + "\nevent: step\ndata: { \"a\": 1  }\n\n");
}

TEST_F(EventHubTest, FiltersByTopicAndRunAndLetsEventsWithoutRunPass)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("step", "a", "{1}");
    m_hub.publish("step", "b", "{2}");
    m_hub.publish("alert", "", "{3}");
    m_hub.publish("heat", "a", "{4}");
    EXPECT_EQ(texts(start, { { "step" }, "" }), (Texts { "step {1}", "step {2}" }));
    EXPECT_EQ(texts(start, { {}, "a" }), (Texts { "step {1}", "alert {3}", "heat {4}" }));
    EXPECT_EQ(texts(start, { { "alert", "heat" }, "b" }), (Texts { "alert {3}" }));
}

TEST_F(EventHubTest, ReadsInBatchesWithoutLosingAny)
{
    std::uint64_t position = m_hub.end();
    for (int i = 0; i < 100; ++i)
        m_hub.publish("step", "r", std::string(1'000, 'x'));
    std::size_t frames = 0;
    std::size_t batches = 0;
    while (position != m_hub.end()) {
        const EventHub::Batch batch = m_hub.read(position, {}, 10'000);
        EXPECT_LE(batch.frames.size(), 10U);
        frames += batch.frames.size();
        position = batch.next;
        ++batches;
    }
    EXPECT_EQ(frames, 100U);
    EXPECT_EQ(batches, 10U);
}

TEST_F(EventHubTest, ResumesBehindTheIdThatTheClientHasSeen)
{
    m_hub.publish("step", "r", "{1}");
    const std::string seen = m_hub.idAt(m_hub.end());
    m_hub.publish("step", "r", "{2}");
    const auto position = m_hub.resume(seen);
    ASSERT_TRUE(position);
    EXPECT_EQ(texts(*position), (Texts { "step {2}" }));
}

TEST_F(EventHubTest, ResumesBeforeTheFirstEvent)
{
    const std::string seen = m_hub.idAt(m_hub.end());
    m_hub.publish("step", "r", "{1}");
    ASSERT_TRUE(m_hub.resume(seen));
    EXPECT_EQ(texts(*m_hub.resume(seen)), (Texts { "step {1}" }));
}

TEST_F(EventHubTest, DoesNotResumeWhatItNeverGave)
{
    EventHub other;
    for (int i = 0; i < 5; ++i) {
        m_hub.publish("step", "r", "{}");
        other.publish("step", "r", "{}");
    }
    EXPECT_FALSE(m_hub.resume(other.idAt(other.end()))) << "another daemon";
    const std::string future = m_hub.idAt(m_hub.end() + 1);
    for (const std::string& id :
         { future, std::string("7"), std::string(), std::string("-"), future + "x", future + "99999999999999999999" })
        EXPECT_FALSE(m_hub.resume(id)) << id;
}

TEST_F(EventHubTest, SendsResetWhenTheRingHasRolledOver)
{
    const std::uint64_t start = m_hub.end();
    const std::string seen = m_hub.idAt(start);
    for (std::size_t i = 0; i < EventHub::kMaxEvents; ++i)
        m_hub.publish("step", "r", "{}");
    EXPECT_EQ(texts(start).size(), EventHub::kMaxEvents);
    ASSERT_TRUE(m_hub.resume(seen));
    m_hub.publish("step", "r", "{}");
    EXPECT_FALSE(m_hub.resume(seen));
    EXPECT_EQ(texts(start), (Texts { "reset {}" }));
    EXPECT_EQ(m_hub.read(start, {}, 1 << 20).next, m_hub.end());
    EXPECT_EQ(texts(EventHub::kLost), (Texts { "reset {}" }));
}

TEST_F(EventHubTest, ForgetsWhatIsOlderThanTenMinutes)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("step", "r", "{1}");
    m_now += EventHub::kMaxAge;
    m_hub.publish("step", "r", "{2}");
    EXPECT_EQ(texts(start), (Texts { "step {1}", "step {2}" }));
    m_now += 1ms;
    m_hub.publish("step", "r", "{3}");
    EXPECT_EQ(texts(start), (Texts { "reset {}" }));
}

TEST_F(EventHubTest, KeepsItsMemoryBounded)
{
    const std::uint64_t start = m_hub.end();
    for (int i = 0; i < 40; ++i)
        m_hub.publish("heat", "r", std::string(1 << 20, 'x'));
    EXPECT_EQ(texts(start), (Texts { "reset {}" }));
    EXPECT_LE(m_hub.read(m_hub.end() - 31, {}, 100 << 20).frames.size(), 31U);
}

TEST_F(EventHubTest, HoldsAKeyBackAndSendsTheNewest)
{
    const std::uint64_t start = m_hub.end();
    for (int i = 0; i < 5; ++i)
        m_hub.publish("task", "r", "{" + std::to_string(i) + "}", "t1");
    m_hub.publish("task", "r", "{other}", "t2");
    m_hub.publish("run", "r", "{run}", "t1");
    EXPECT_EQ(texts(start), (Texts { "task {0}", "task {other}", "run {run}" }));
    EXPECT_EQ(m_hub.flush(), EventHub::Clock::duration(100ms));
    m_now += 99ms;
    EXPECT_EQ(m_hub.flush(), EventHub::Clock::duration(1ms));
    m_now += 1ms;
    EXPECT_EQ(m_hub.flush(), std::nullopt);
    EXPECT_EQ(texts(start), (Texts { "task {0}", "task {other}", "run {run}", "task {4}" }));
}

TEST_F(EventHubTest, SendsAtMostTenOfAKeyInASecond)
{
    const std::uint64_t start = m_hub.end();
    for (int ms = 0; ms < 1'000; ++ms) {
        m_hub.publish("task", "r", "{}", "t");
        m_hub.flush();
        m_now += 1ms;
    }
    EXPECT_EQ(texts(start).size(), 10U);
}

TEST_F(EventHubTest, ANewerEventTakesThePlaceOfTheOneHeldBack)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("task", "r", "{0}", "t");
    m_hub.publish("task", "r", "{1}", "t");
    m_now += 200ms;
    m_hub.publish("task", "r", "{2}", "t");
    EXPECT_EQ(m_hub.flush(), std::nullopt);
    EXPECT_EQ(texts(start), (Texts { "task {0}", "task {2}" }));
}

TEST_F(EventHubTest, WhatIsSentAtOnceIsNotFollowedByWhatWasHeldBackBefore)
{
    const std::uint64_t start = m_hub.end();
    m_hub.publish("task", "r", "{running}", "t");
    m_hub.publish("task", "r", "{still running}", "t");
    m_hub.publish("task", "r", "{other}", "u");
    m_hub.publish("task", "r", "{still other}", "u");
    m_hub.publishNow("task", "r", "{done}", "t");
    m_now += 1s;
    EXPECT_EQ(m_hub.flush(), std::nullopt);
    EXPECT_EQ(texts(start), (Texts { "task {running}", "task {other}", "task {done}", "task {still other}" }));
    m_hub.publishNow("task", "r", "{new}", "v");
    m_hub.publish("task", "r", "{held}", "v");
    EXPECT_EQ(texts(start).back(), "task {new}");
    EXPECT_EQ(m_hub.flush(), EventHub::Clock::duration(100ms));
}

TEST_F(EventHubTest, TellsItsListenerUntilItIsTakenAway)
{
    int calls = 0;
    m_hub.setListener([&] { ++calls; });
    m_hub.publish("step", "r", "{}");
    m_hub.publish("task", "r", "{}", "t");
    m_hub.publish("task", "r", "{}", "t");
    EXPECT_EQ(calls, 3);
    m_hub.setListener({});
    m_hub.publish("step", "r", "{}");
    EXPECT_EQ(calls, 3);
}

TEST(EventHub, TakesEventsFromManyThreads)
{
    EventHub hub;
    const std::uint64_t start = hub.end();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&hub] {
            for (int i = 0; i < 1'000; ++i)
                hub.publish("step", "r", "{}", i % 2 == 0 ? "" : "key");
        });
    std::size_t seen = 0;
    for (std::uint64_t position = start; seen < 2'000;) {
        const EventHub::Batch batch = hub.read(position, {}, 1 << 20);
        seen += batch.frames.size();
        position = batch.next;
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_GE(hub.end() - start, 2'000U + 1);
}

}
}
