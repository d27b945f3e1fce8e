#include "service/job_runner.h"

#include "support/eventually.h"
#include "support/no_threads.h"
#include "support/sanitizer.h"

#include <atomic>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

// Jobs: one end each, progress, pause, cancel, and failures of every kind.

namespace deltascope::app {
namespace {

using namespace std::chrono_literals;

Result<JobResult> nothing() { return JobResult(std::make_shared<const DoctorView>()); }

class JobRunnerTest : public testing::Test {
protected:
    JobRunnerTest()
        : feed(bus.subscribe({}))
        , runner(std::make_unique<JobRunner>(bus, 2))
    {
    }

    JobId start(JobRunner::Work work, JobRunner::Life life = JobRunner::Life::Short)
    {
        return runner->start("a job", life, std::move(work));
    }

    /// Takes events until the job has ended.
    Result<JobResult> outcomeOf(JobId job)
    {
        const auto giveUp = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < giveUp) {
            for (const Event& event : seen) {
                if (const auto* end = std::get_if<JobFinished>(&event); end && end->job == job)
                    return end->outcome;
            }
            feed->wait(100);
            for (Event& event : feed->take())
                seen.push_back(std::move(event));
        }
        ADD_FAILURE() << "the job never ended";
        return fail(Code::Internal, "no end");
    }
    Code codeOf(JobId job)
    {
        const auto outcome = outcomeOf(job);
        EXPECT_FALSE(outcome);
        return outcome ? Code::Internal : outcome.error().code;
    }
    /// Waits for a state that another thread brings about.
    bool reaches(JobId job, JobState state)
    {
        const auto giveUp = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < giveUp) {
            if (const auto view = runner->job(job); view && view->state == state)
                return true;
            std::this_thread::yield();
        }
        return false;
    }

    EventBus bus;
    std::unique_ptr<EventFeed> feed;
    std::vector<Event> seen;
    std::unique_ptr<JobRunner> runner; ///< last: its threads publish to the bus
};

TEST_F(JobRunnerTest, APlanWaitsForNoTask)
{
    std::promise<void> end;
    const std::shared_future<void> ended = end.get_future().share();
    const auto wait = [ended](JobId, TaskContext&) {
        ended.wait();
        return nothing();
    };
    for (int i = 0; i < 3; ++i) // more than there are threads
        start(wait);
    EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); }, JobRunner::Life::Plan)));
    end.set_value();
}

TEST_F(JobRunnerTest, SaysWhenTheLastShortJobHasEnded)
{
    std::atomic<int> times = 0;
    std::promise<void> idle;
    runner = std::make_unique<JobRunner>(bus, 2, [&] {
        if (++times == 1)
            idle.set_value();
    });
    std::promise<void> end;
    const std::shared_future<void> ended = end.get_future().share();
    const auto wait = [ended](JobId, TaskContext&) {
        ended.wait();
        return nothing();
    };
    std::promise<void> goOn;
    const std::shared_future<void> mayEnd = goOn.get_future().share();
    const JobId follows = start(
        [mayEnd](JobId, TaskContext&) {
            mayEnd.wait();
            return nothing();
        },
        JobRunner::Life::Long);
    const std::vector<JobId> jobs { start(wait), start(wait), start(wait) };
    EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); }, JobRunner::Life::Plan)));
    EXPECT_EQ(times, 0) << "others are at work";
    end.set_value();
    EXPECT_EQ(idle.get_future().wait_for(60s), std::future_status::ready) << "a long-lived job is no obstacle";
    for (const JobId job : jobs)
        EXPECT_EQ(runner->job(job)->state, JobState::Done);
    goOn.set_value();
    EXPECT_TRUE(outcomeOf(follows));
    runner.reset();
    EXPECT_EQ(times, 1);
}

TEST_F(JobRunnerTest, AJobEndsWithItsResult)
{
    const JobId job = start([](JobId, TaskContext&) { return nothing(); });
    const auto outcome = outcomeOf(job);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<const DoctorView>>(*outcome));
    EXPECT_EQ(runner->job(job)->state, JobState::Done);
    EXPECT_EQ(runner->job(job)->title, "a job");
}

TEST_F(JobRunnerTest, AJobKnowsItsOwnNumber)
{
    std::promise<JobId> own;
    const JobId job = start([&](JobId id, TaskContext&) {
        own.set_value(id);
        return nothing();
    });
    EXPECT_EQ(own.get_future().get(), job);
}

TEST_F(JobRunnerTest, AnErrorIsAFailedJob)
{
    const JobId job =
        start([](JobId, TaskContext&) -> Result<JobResult> { return fail(Code::NotFound, "no such run"); });
    EXPECT_EQ(codeOf(job), Code::NotFound);
    EXPECT_EQ(runner->job(job)->state, JobState::Failed);
}

TEST_F(JobRunnerTest, AnExceptionIsAnInternalErrorWithItsText)
{
    const JobId job = start([](JobId, TaskContext&) -> Result<JobResult> { throw std::runtime_error("the sky fell"); });
    const auto outcome = outcomeOf(job);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Internal);
    EXPECT_NE(outcome.error().text.find("the sky fell"), std::string::npos);
    EXPECT_EQ(runner->job(job)->state, JobState::Failed);
}

TEST_F(JobRunnerTest, MemoryThatRunsOutIsAnInternalError)
{
    const JobId job = start([](JobId, TaskContext&) -> Result<JobResult> { throw std::bad_alloc(); });
    const auto outcome = outcomeOf(job);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Internal);
    EXPECT_NE(outcome.error().text.find("memory"), std::string::npos);
}

TEST_F(JobRunnerTest, SomethingThatIsNoExceptionIsAnInternalError)
{
    const JobId job = start([](JobId, TaskContext&) -> Result<JobResult> { throw 5; });
    EXPECT_EQ(codeOf(job), Code::Internal);
}

TEST_F(JobRunnerTest, TheThreadsOutliveFailures)
{
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(codeOf(start([](JobId, TaskContext&) -> Result<JobResult> { throw std::runtime_error("again"); })),
                  Code::Internal);
    EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); })));
}

Result<JobResult> untilStopped(TaskContext& task)
{
    for (;;)
        DS_CHECK(task.checkpoint());
}

TEST_F(JobRunnerTest, ACanceledJobEndsAsCanceled)
{
    const JobId job = start([](JobId, TaskContext& task) { return untilStopped(task); });
    ASSERT_TRUE(reaches(job, JobState::Running));
    runner->cancel(job);
    EXPECT_EQ(codeOf(job), Code::Canceled);
    EXPECT_EQ(runner->job(job)->state, JobState::Canceled);
}

TEST_F(JobRunnerTest, CancelingTwiceOrTooLateDoesNothing)
{
    const JobId job = start([](JobId, TaskContext& task) { return untilStopped(task); });
    runner->cancel(job);
    runner->cancel(job);
    EXPECT_EQ(codeOf(job), Code::Canceled);
    runner->cancel(job);
    runner->cancel(JobId { 999 });
    runner->pause(JobId { 999 });
    runner->resume(JobId { 999 });
    EXPECT_EQ(runner->job(job)->state, JobState::Canceled);
}

TEST_F(JobRunnerTest, AJobThatIsCanceledInTheQueueNeverRuns)
{
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    const auto busy = [released](JobId, TaskContext&) {
        released.wait();
        return nothing();
    };
    start(busy);
    start(busy);
    std::atomic<bool> ran = false;
    const JobId job = start([&](JobId, TaskContext&) {
        ran = true;
        return nothing();
    });
    EXPECT_EQ(runner->job(job)->state, JobState::Queued);
    runner->cancel(job);
    release.set_value();
    EXPECT_EQ(codeOf(job), Code::Canceled);
    EXPECT_FALSE(ran);
}

TEST_F(JobRunnerTest, APausedJobStandsStillUntilItIsResumed)
{
    std::atomic<std::uint64_t> steps = 0;
    const JobId job = start([&](JobId, TaskContext& task) -> Result<JobResult> {
        for (;;) {
            DS_CHECK(task.checkpoint());
            ++steps;
            std::this_thread::yield();
        }
    });
    ASSERT_TRUE(reaches(job, JobState::Running));
    runner->pause(job);
    EXPECT_TRUE(reaches(job, JobState::Paused));
    // one step may be under way; then none follows
    const std::uint64_t paused = steps;
    for (int i = 0; i < 1000; ++i)
        std::this_thread::yield();
    EXPECT_LE(steps, paused + 1);
    const std::uint64_t before = steps;
    runner->resume(job);
    EXPECT_TRUE(reaches(job, JobState::Running));
    while (steps < before + 10)
        std::this_thread::yield();
    runner->cancel(job);
    EXPECT_EQ(codeOf(job), Code::Canceled);
}

TEST_F(JobRunnerTest, APausedJobCanBeCanceled)
{
    const JobId job = start([](JobId, TaskContext& task) { return untilStopped(task); });
    runner->pause(job);
    ASSERT_TRUE(reaches(job, JobState::Paused));
    runner->cancel(job);
    EXPECT_EQ(codeOf(job), Code::Canceled);
}

TEST_F(JobRunnerTest, ProgressShowsPhaseAndBytes)
{
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    const JobId job = start([released](JobId, TaskContext& task) {
        task.beginPhase("rebuild", 1000);
        task.addDone(250);
        released.wait();
        return nothing();
    });
    bool shown = false;
    while (!shown) {
        feed->wait(1000);
        for (const Event& event : feed->take()) {
            const auto* progress = std::get_if<JobProgressed>(&event);
            shown = shown
                || (progress && progress->job.id == job && progress->job.phase == "rebuild"
                    && progress->job.doneBytes == 250 && progress->job.totalBytes == 1000
                    && progress->job.state == JobState::Running);
        }
    }
    release.set_value();
    EXPECT_TRUE(outcomeOf(job));
}

TEST_F(JobRunnerTest, APhaseThatBeginsAnewIsNoGreatSpeed)
{
    constexpr std::uint64_t Bytes = 1'000'000;
    const JobId job = start([](JobId, TaskContext& task) {
        for (int i = 0; i < 3; ++i) {
            task.beginPhase("replay", 2 * Bytes);
            task.addDone(Bytes / static_cast<std::uint64_t>(i + 1));
            std::this_thread::sleep_for(400ms);
        }
        return nothing();
    });
    ASSERT_TRUE(outcomeOf(job));
    std::size_t told = 0;
    for (const Event& event : seen) {
        if (const auto* progressed = std::get_if<JobProgressed>(&event)) {
            EXPECT_LE(progressed->job.bytesPerSecond, 1e9);
            ++told;
        }
    }
    EXPECT_GT(told, 3U);
}

TEST_F(JobRunnerTest, LongJobsDoNotHoldUpShortOnes)
{
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; ++i)
        jobs.push_back(start([](JobId, TaskContext& task) { return untilStopped(task); }, JobRunner::Life::Long));
    EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); })));
    for (const JobId job : jobs) {
        runner->cancel(job);
        EXPECT_EQ(codeOf(job), Code::Canceled);
    }
}

/// Stretches of memory of this process: a thread has some until it is joined.
std::size_t mappings()
{
    std::ifstream file("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);)
        ++count;
    return count;
}

TEST_F(JobRunnerTest, LongJobsThatEndedLeaveNoThread)
{
    if (test::UnderSanitizer)
        GTEST_SKIP() << "a sanitizer keeps mappings of threads that ended; the release build runs it";
    const std::size_t before = mappings();
    for (int i = 0; i < 300; ++i)
        EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); }, JobRunner::Life::Long)));
    EXPECT_TRUE(test::eventually([&] { return mappings() < before + 100; })) << before << " " << mappings();
}

TEST_F(JobRunnerTest, ALongJobWithoutAThreadFailsAndTheNextOneRuns)
{
    std::atomic<bool> ran = false;
    JobId job {};
    {
        const test::NoThreads none;
        job = start(
            [&](JobId, TaskContext&) {
                ran = true;
                return nothing();
            },
            JobRunner::Life::Long);
    }
    EXPECT_EQ(codeOf(job), Code::Io);
    EXPECT_EQ(runner->job(job)->state, JobState::Failed);
    EXPECT_FALSE(ran);
    EXPECT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); }, JobRunner::Life::Long)));
}

TEST_F(JobRunnerTest, EveryJobEndsExactlyOnceAlsoWhenTheRunnerGoes)
{
    std::vector<JobId> jobs;
    for (int i = 0; i < 20; ++i)
        jobs.push_back(start([](JobId, TaskContext& task) { return untilStopped(task); },
                             i % 7 == 0 ? JobRunner::Life::Long : JobRunner::Life::Short));
    runner->pause(jobs[1]);
    runner.reset();
    std::map<std::uint64_t, int> ends;
    for (const Event& event : feed->take()) {
        if (const auto* end = std::get_if<JobFinished>(&event)) {
            ++ends[static_cast<std::uint64_t>(end->job)];
            EXPECT_EQ(end->outcome.error().code, Code::Canceled);
        }
    }
    EXPECT_EQ(ends.size(), jobs.size());
    for (const auto& [job, count] : ends)
        EXPECT_EQ(count, 1) << job;
}

TEST_F(JobRunnerTest, NothingComesAfterTheEndOfAJob)
{
    // The ticker hangs between two subscribers: the first one's wake does not return until the job is over.
    std::promise<void> hanging;
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    std::atomic<bool> armed = true;
    const auto slow = bus.subscribe([&] {
        if (armed.exchange(false)) {
            hanging.set_value();
            released.wait();
        }
    });
    const auto late = bus.subscribe({});
    std::promise<void> finish;
    const JobId job = start([ready = finish.get_future().share()](JobId, TaskContext& task) {
        task.beginPhase("work", 1);
        ready.wait();
        return nothing();
    });
    hanging.get_future().wait(); // the ticker is about to tell `late` that the job runs
    finish.set_value();
    ASSERT_TRUE(reaches(job, JobState::Done));
    std::vector<Event> events;
    late->wait(200); // a runner that tells the end now has told it too early
    for (Event& event : late->take())
        events.push_back(std::move(event));
    release.set_value();
    const auto isEnd = [&](const Event& event) {
        const auto* end = std::get_if<JobFinished>(&event);
        return end && end->job == job;
    };
    EXPECT_TRUE(outcomeOf(job));
    runner.reset(); // all threads are done
    for (Event& event : late->take())
        events.push_back(std::move(event));
    const auto end = std::find_if(events.begin(), events.end(), isEnd);
    ASSERT_NE(end, events.end());
    EXPECT_EQ(end + 1, events.end()) << "something came behind the end";
}

TEST_F(JobRunnerTest, OldEndedJobsAreForgottenAndRunningOnesAreNot)
{
    const JobId running = start([](JobId, TaskContext& task) { return untilStopped(task); });
    for (int i = 0; i < 500; ++i)
        ASSERT_TRUE(outcomeOf(start([](JobId, TaskContext&) { return nothing(); })));
    EXPECT_LE(runner->jobs().size(), 250U);
    EXPECT_TRUE(runner->job(running));
    runner->cancel(running);
    EXPECT_EQ(codeOf(running), Code::Canceled);
}

TEST_F(JobRunnerTest, JobsAreListedInOrder)
{
    const JobId one = start([](JobId, TaskContext&) { return nothing(); });
    const JobId two = start([](JobId, TaskContext&) { return nothing(); });
    const std::vector<JobView> jobs = runner->jobs();
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].id, one);
    EXPECT_EQ(jobs[1].id, two);
}

TEST_F(JobRunnerTest, AnUnknownJobIsNone) { EXPECT_FALSE(runner->job(JobId { 77 })); }

} // namespace
} // namespace deltascope::app
