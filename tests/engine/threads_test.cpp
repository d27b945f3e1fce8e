#include "deltascope/base/threads.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/parallel.h"

#include "base/serial_jobs.h"
#include "support/no_threads.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

// Work on other threads: what it throws is an error, and a thread that cannot be started ends nothing but its own work.

namespace deltascope {
namespace {

using test::NoThreads;

TEST(Caught, PassesResultsOn)
{
    EXPECT_EQ(caught([]() -> Result<int> { return 5; }).value(), 5);
    EXPECT_EQ(caught([]() -> Result<int> { return fail(Code::Io, "broken"); }).error().text, "broken");
}

TEST(Caught, MakesExceptionsErrors)
{
    const Error memory = caught([]() -> Result<void> { throw std::bad_alloc(); }).error();
    EXPECT_EQ(memory.code, Code::Internal);
    EXPECT_EQ(memory.text, "out of memory");
    const Error known = caught([]() -> Result<void> { throw std::runtime_error("the sky fell"); }).error();
    EXPECT_EQ(known.code, Code::Internal);
    EXPECT_NE(known.text.find("the sky fell"), std::string::npos);
    EXPECT_EQ(caught([]() -> Result<void> { throw 5; }).error().code, Code::Internal);
}

TEST(StartThread, IsAnErrorWhereThereIsNone)
{
    const NoThreads none;
    const Result<std::jthread> thread = startThread([] {});
    ASSERT_FALSE(thread);
    EXPECT_EQ(thread.error().code, Code::Io);
    EXPECT_FALSE(thread.error().action.empty());
}

TEST(StartThread, StartsOne)
{
    std::atomic<bool> ran = false;
    startThread([&] { ran = true; }).value().join();
    EXPECT_TRUE(ran);
}

TEST(ForEachParallel, AnExceptionOnAnyThreadIsAnError)
{
    for (const unsigned threads : { 1U, 4U }) {
        TaskContext task;
        const Result<void> outcome = forEachParallel(threads, 1000, task, [](std::size_t i) -> Result<void> {
            if (i % 100 == 99)
                throw std::bad_alloc();
            return {};
        });
        ASSERT_FALSE(outcome) << threads;
        EXPECT_EQ(outcome.error().code, Code::Internal);
        EXPECT_EQ(outcome.error().text, "out of memory");
    }
}

TEST(ForEachParallel, GoesOnWithTheCallingThreadAlone)
{
    const NoThreads none;
    TaskContext task;
    std::size_t calls = 0;
    EXPECT_TRUE(forEachParallel(8, 1000, task, [&](std::size_t) -> Result<void> {
        ++calls;
        return {};
    }));
    EXPECT_EQ(calls, 1000U);
}

TEST(SerialJobs, AreCarriedOutByTheCallerWhereThereIsNoThread)
{
    SerialJobs jobs(100);
    int done = 0;
    {
        const NoThreads none;
        jobs.add(10, [&] { ++done; });
        EXPECT_EQ(done, 1);
        jobs.finish();
    }
    jobs.add(10, [&] { ++done; });
    jobs.finish();
    EXPECT_EQ(done, 2);
}

TEST(HttpClientThread, ARequestWithoutOneFails)
{
    const NoThreads none;
    http::Client client;
    http::Request request;
    request.url = "http://127.0.0.1:1/";
    TaskContext task;
    const auto answer = client.send(std::move(request), task);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::Io);
}

} // namespace
} // namespace deltascope
