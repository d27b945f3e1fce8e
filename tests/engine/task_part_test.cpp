#include "deltascope/base/task.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

// A part of a task: it ends by itself, and else does what the task does.

namespace deltascope {
namespace {

TEST(TaskPart, StopsWithItsTaskAndByItself)
{
    TaskContext task;
    TaskContext part(task);
    TaskContext other(task);
    EXPECT_TRUE(part.checkpoint());
    part.requestStop();
    EXPECT_EQ(part.checkpoint().error().code, Code::Canceled);
    EXPECT_TRUE(task.checkpoint());
    EXPECT_TRUE(other.checkpoint());
    task.requestStop();
    EXPECT_EQ(other.going().error().code, Code::Canceled);
}

TEST(TaskPart, HasTheDeadlineOfItsTask)
{
    TaskContext task;
    const TaskContext part(task);
    task.setDeadline(std::chrono::steady_clock::now());
    EXPECT_EQ(part.going().error().code, Code::Transient);
}

TEST(TaskPart, PausesWithItsTask)
{
    for (const bool isStopped : { false, true }) {
        TaskContext task;
        TaskContext part(task);
        task.pause();
        EXPECT_TRUE(part.paused());
        std::atomic<bool> isThrough = false;
        std::thread worker([&] {
            EXPECT_EQ(part.checkpoint().has_value(), !isStopped);
            isThrough = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // it waits by now, on most machines
        EXPECT_FALSE(isThrough);
        if (isStopped)
            part.requestStop();
        else
            task.resume();
        worker.join();
        EXPECT_TRUE(isThrough);
    }
}

TEST(TaskPart, ReportsToItsTask)
{
    TaskContext task;
    TaskContext part(task);
    EXPECT_FALSE(part.isPatient());
    const TaskContext::Patience patience(task);
    EXPECT_TRUE(part.isPatient());
    task.beginPhase("rebuild", 10);
    part.addDone(3);
    part.addNotice(Error { Code::Transient, "mended", {}, {}, {} });
    EXPECT_EQ(task.progress().doneBytes, 3U);
    EXPECT_EQ(task.notices().size(), 1U);
    {
        const TaskContext::Wait wait(part, "waiting for a host");
        EXPECT_EQ(task.progress().phase, "rebuild, waiting for a host");
    }
    EXPECT_EQ(task.progress().phase, "rebuild");
}

} // namespace
} // namespace deltascope
