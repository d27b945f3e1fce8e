#include "base/serial_jobs.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

// Work behind one's back: all of it, in its order, and never more than there is room for.

namespace deltascope {
namespace {

TEST(SerialJobs, AreCarriedOutInTheirOrder)
{
    std::vector<int> done;
    {
        SerialJobs jobs(100);
        for (int i = 0; i < 50; ++i)
            jobs.add(10, [&done, i] { done.push_back(i); });
        jobs.finish();
        EXPECT_EQ(done.size(), 50U);
        for (int i = 50; i < 60; ++i)
            jobs.add(0, [&done, i] { done.push_back(i); });
    }
    ASSERT_EQ(done.size(), 60U);
    for (int i = 0; i < 60; ++i)
        EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(SerialJobs, WithoutAnyThereIsNothingToWaitFor)
{
    SerialJobs jobs(0);
    jobs.finish();
}

TEST(SerialJobs, WaitForRoom)
{
    SerialJobs jobs(100);
    std::promise<void> gate;
    jobs.add(60, [opened = gate.get_future().share()] { opened.wait(); });
    jobs.add(40, [] {}); // just fits
    auto third = std::async(std::launch::async, [&] { jobs.add(1, [] {}); });
    EXPECT_EQ(third.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    gate.set_value();
    third.get();
    jobs.add(1000, [] {}); // more than fits: alone
    jobs.finish();
}

TEST(SerialJobs, KeepNothingOfWhatIsDone)
{
    SerialJobs jobs(100);
    const auto held = std::make_shared<int>(7);
    jobs.add(4, [held] {});
    jobs.finish();
    EXPECT_EQ(held.use_count(), 1);
}

TEST(SerialJobs, ComeFromManyThreads)
{
    SerialJobs jobs(10);
    std::size_t done = 0; // one thread counts
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < 100; ++n)
                    jobs.add(3, [&done] { ++done; });
            });
        }
    }
    jobs.finish();
    EXPECT_EQ(done, 400U);
}

} // namespace
} // namespace deltascope
