#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace deltascope {

/// A mutex that is held while something is fetched. Who waits for it stops waiting when its task is asked to stop.
class TaskMutex {
public:
    using Hold = std::unique_lock<TaskMutex>;

    /// Waits until nobody else holds it. Errors: Canceled.
    Result<Hold> hold(TaskContext& task)
    {
        constexpr std::chrono::milliseconds Look { 50 }; // a task tells nobody that it is to stop
        std::unique_lock lock(m_mutex);
        while (!m_free.wait_for(lock, Look, [this] { return !m_isHeld; })) {
            DS_CHECK(task.going());
        }
        m_isHeld = true;
        return Hold(*this, std::adopt_lock);
    }
    void lock()
    {
        std::unique_lock lock(m_mutex);
        m_free.wait(lock, [this] { return !m_isHeld; });
        m_isHeld = true;
    }
    void unlock()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_isHeld = false;
        }
        m_free.notify_one();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_free;
    bool m_isHeld = false;
};

} // namespace deltascope
