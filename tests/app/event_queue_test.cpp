#include "service/event_queue.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

// What a subscriber gets: everything that matters, and never more than it can hold.

namespace deltascope::app {
namespace {

Event progressed(std::uint64_t job, std::uint64_t done)
{
    JobView view;
    view.id = JobId { job };
    view.doneBytes = done;
    return JobProgressed { view };
}

Event finished(std::uint64_t job) { return JobFinished { JobId { job }, fail(Code::Canceled, "stopped") }; }

Event changed(std::uint64_t job, std::uint64_t revision)
{
    auto run = std::make_shared<RunView>();
    run->revision = revision;
    return RunChanged { JobId { job }, run, nullptr };
}

/// "progress 1 50", "end 1", "run 1 7"
std::vector<std::string> described(const std::vector<Event>& events)
{
    std::vector<std::string> out;
    const auto number = [](JobId id) { return std::to_string(static_cast<std::uint64_t>(id)); };
    for (const Event& event : events) {
        if (const auto* progress = std::get_if<JobProgressed>(&event))
            out.push_back("progress " + number(progress->job.id) + " " + std::to_string(progress->job.doneBytes));
        else if (const auto* end = std::get_if<JobFinished>(&event))
            out.push_back("end " + number(end->job));
        else
            out.push_back("run " + number(std::get<RunChanged>(event).job) + " "
                          + std::to_string(std::get<RunChanged>(event).run->revision));
    }
    return out;
}

using Texts = std::vector<std::string>;

TEST(EventFeed, GivesEventsInOrderAndOnce)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    bus.publish(progressed(1, 10));
    bus.publish(changed(2, 1));
    bus.publish(finished(1));
    EXPECT_EQ(described(feed->take()), (Texts { "progress 1 10", "run 2 1", "end 1" }));
    EXPECT_TRUE(feed->take().empty());
}

TEST(EventFeed, KeepsTheNewestProgressOfEachJob)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    for (std::uint64_t done = 0; done <= 50; ++done) {
        bus.publish(progressed(1, done));
        bus.publish(progressed(2, 2 * done));
    }
    EXPECT_EQ(described(feed->take()), (Texts { "progress 1 50", "progress 2 100" }));
}

TEST(EventFeed, KeepsTheNewestRunOfEachJob)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    bus.publish(changed(1, 1));
    bus.publish(changed(2, 5));
    bus.publish(changed(1, 2));
    EXPECT_EQ(described(feed->take()), (Texts { "run 1 2", "run 2 5" }));
}

TEST(EventFeed, NeverDropsTheEndOfAJob)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    for (std::uint64_t job = 1; job <= 1000; ++job) {
        bus.publish(progressed(job, 1));
        bus.publish(finished(job));
    }
    std::size_t ends = 0;
    for (const Event& event : feed->take())
        ends += std::holds_alternative<JobFinished>(event);
    EXPECT_EQ(ends, 1000U);
}

TEST(EventFeed, StaysSmallHoweverLongNobodyTakes)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        bus.publish(progressed(i % 3, i));
        bus.publish(changed(i % 3, i));
    }
    EXPECT_EQ(feed->take().size(), 6U);
}

TEST(EventFeed, EverySubscriberGetsEverything)
{
    EventBus bus;
    const auto one = bus.subscribe({});
    const auto two = bus.subscribe({});
    bus.publish(finished(1));
    EXPECT_EQ(one->take().size(), 1U);
    EXPECT_EQ(two->take().size(), 1U);
}

TEST(EventFeed, KnowsNothingOfWhatWasBeforeIt)
{
    EventBus bus;
    bus.publish(finished(1));
    EXPECT_TRUE(bus.subscribe({})->take().empty());
}

TEST(EventFeed, WakesWhenItTurnsNonEmptyAndNotAgain)
{
    EventBus bus;
    int wakes = 0;
    const auto feed = bus.subscribe([&] { ++wakes; });
    bus.publish(progressed(1, 1));
    bus.publish(progressed(1, 2));
    bus.publish(finished(1));
    EXPECT_EQ(wakes, 1);
    feed->take();
    bus.publish(finished(2));
    EXPECT_EQ(wakes, 2);
}

TEST(EventFeed, MayBeTakenFromInsideTheWake)
{
    EventBus bus;
    std::unique_ptr<EventFeed> feed;
    std::size_t taken = 0;
    feed = bus.subscribe([&] { taken += feed->take().size(); });
    bus.publish(finished(1));
    bus.publish(finished(2));
    EXPECT_EQ(taken, 2U);
}

TEST(EventFeed, IsNotWokenWhenItIsGone)
{
    EventBus bus;
    int wakes = 0;
    bus.subscribe([&] { ++wakes; }).reset();
    bus.publish(finished(1));
    EXPECT_EQ(wakes, 0);
}

TEST(EventFeed, OutlivesItsBus)
{
    auto bus = std::make_unique<EventBus>();
    const auto feed = bus->subscribe({});
    bus->publish(finished(1));
    bus.reset();
    EXPECT_EQ(feed->take().size(), 1U);
}

TEST(EventFeed, WaitingEndsWithTheTimeIfNothingComes)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    feed->wait(1);
    EXPECT_TRUE(feed->take().empty());
}

TEST(EventFeed, WaitingEndsWithTheFirstEvent)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    std::jthread publisher([&] { bus.publish(finished(1)); });
    feed->wait(60'000);
    EXPECT_EQ(feed->take().size(), 1U);
}

TEST(EventFeed, ManyThreadsLoseNoEnd)
{
    EventBus bus;
    const auto feed = bus.subscribe({});
    constexpr std::uint64_t Each = 500;
    std::atomic<int> running = 4;
    std::size_t ends = 0;
    {
        std::vector<std::jthread> publishers;
        for (std::uint64_t thread = 0; thread < 4; ++thread) {
            publishers.emplace_back([&, thread] {
                for (std::uint64_t i = 0; i < Each; ++i) {
                    bus.publish(progressed(thread, i));
                    bus.publish(finished(thread * Each + i));
                }
                --running;
            });
        }
        while (running > 0 || ends < 4 * Each) {
            feed->wait(10);
            for (const Event& event : feed->take())
                ends += std::holds_alternative<JobFinished>(event);
        }
    }
    EXPECT_EQ(ends, 4 * Each);
}

TEST(EventFeed, SubscribingAndLeavingWhileOthersPublishIsSafe)
{
    EventBus bus;
    std::atomic<bool> stop = false;
    std::jthread publisher([&] {
        for (std::uint64_t i = 0; !stop; ++i)
            bus.publish(progressed(i % 5, i));
    });
    for (int i = 0; i < 500; ++i) {
        int wakes = 0; // gone with the feed: a wake that came later would be seen by the sanitizers
        const auto feed = bus.subscribe([&] { ++wakes; });
        feed->wait(60'000);
        EXPECT_FALSE(feed->take().empty());
    }
    stop = true;
}

} // namespace
} // namespace deltascope::app
