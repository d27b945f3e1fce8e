#pragma once

#include "deltascope/base/result.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// How far a task has come. `total` is 0 while it is not known.
struct Progress {
    std::string phase; ///< also says which store the task waits for, and since when
    std::uint64_t doneBytes = 0;
    std::uint64_t totalBytes = 0;
};

/// Shared by whoever started a task and the threads that work on it: stop, pause and progress.
/// All methods may be called from any thread. Workers call checkpoint() at least once per 16 MiB of work.
class TaskContext {
public:
    TaskContext() = default;
    /// A part of a task that can be stopped by itself. It stops and pauses with the task, is as patient, and its waits,
    /// notices and work are the task's, which outlives it.
    explicit TaskContext(TaskContext& whole)
        : m_whole(&whole)
    {
    }
    TaskContext(const TaskContext&) = delete;
    TaskContext& operator=(const TaskContext&) = delete;

    /// Asks the workers to stop; they end with Code::Canceled.
    void requestStop()
    {
        m_stop.store(true, std::memory_order_relaxed);
        resume();
    }
    bool stopRequested() const noexcept
    {
        return m_stop.load(std::memory_order_relaxed) || (m_whole && m_whole->stopRequested());
    }

    void pause()
    {
        const std::lock_guard lock(m_mutex);
        m_paused.store(true, std::memory_order_relaxed);
    }
    void resume()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_paused.store(false, std::memory_order_relaxed);
        }
        m_wake.notify_all();
    }
    bool paused() const noexcept { return m_paused.load(std::memory_order_relaxed) || (m_whole && m_whole->paused()); }

    /// From `time` on, the workers end with Code::Transient. For what has to end although nobody asks it to stop.
    void setDeadline(std::chrono::steady_clock::time_point time)
    {
        m_deadline.store(time.time_since_epoch(), std::memory_order_relaxed);
    }

    /// Whether the work may go on; never blocks. For loops that wait. Errors: Canceled, Transient (the deadline).
    Result<void> going() const
    {
        if (stopRequested())
            return fail(Code::Canceled, "stopped on request");
        const auto deadline = m_deadline.load(std::memory_order_relaxed);
        if (deadline != NoDeadline && std::chrono::steady_clock::now().time_since_epoch() >= deadline)
            return fail(Code::Transient, "it takes longer than it may");
        return m_whole ? m_whole->going() : Result<void>();
    }

    /// Blocks while paused. Errors: those of going().
    Result<void> checkpoint()
    {
        constexpr std::chrono::milliseconds LookAtWhole { 20 }; // it does not wake its parts
        if (paused()) {
            std::unique_lock lock(m_mutex);
            const auto mayGoOn = [this] { return !paused() || stopRequested(); };
            while (m_whole && !mayGoOn())
                m_wake.wait_for(lock, LookAtWhole);
            m_wake.wait(lock, mayGoOn);
        }
        return going();
    }

    /// Starts a phase: `totalBytes` of work lie ahead.
    void beginPhase(std::string phase, std::uint64_t totalBytes)
    {
        const std::lock_guard lock(m_mutex);
        m_phase = std::move(phase);
        m_total.store(totalBytes, std::memory_order_relaxed);
        m_done.store(0, std::memory_order_relaxed);
    }
    void addDone(std::uint64_t bytes) noexcept { whole().m_done.fetch_add(bytes, std::memory_order_relaxed); }

    Progress progress() const
    {
        const std::lock_guard lock(m_mutex);
        return Progress { m_waits == 0 ? m_phase : m_phase + ", " + m_waitText, m_done.load(std::memory_order_relaxed),
                          m_total.load(std::memory_order_relaxed) };
    }

    /// While one lives, the task is a long one: a store that has answered before and is silent now is waited for for
    /// minutes (RetryPolicy).
    class Patience {
    public:
        explicit Patience(TaskContext& task)
            : m_task(task)
        {
            ++m_task.m_patience;
        }
        ~Patience() { --m_task.m_patience; }
        Patience(const Patience&) = delete;
        Patience& operator=(const Patience&) = delete;

    private:
        TaskContext& m_task;
    };
    bool isPatient() const noexcept { return m_patience > 0 || (m_whole && m_whole->isPatient()); }

    /// While one lives, the progress says that a thread of the task waits: "waiting for HOST since 12:00:00 UTC".
    class Wait {
    public:
        Wait(TaskContext& task, std::string text)
            : m_task(task.whole())
        {
            const std::lock_guard lock(m_task.m_mutex);
            if (m_task.m_waits++ == 0)
                m_task.m_waitText = std::move(text);
        }
        ~Wait()
        {
            const std::lock_guard lock(m_task.m_mutex);
            --m_task.m_waits;
        }
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

    private:
        TaskContext& m_task;
    };

    /// What went wrong on the way and was mended, for the report of the task.
    void addNotice(const Error& notice)
    {
        TaskContext& of = whole();
        const std::lock_guard lock(of.m_mutex);
        of.m_notices.push_back(notice);
    }
    /// Each once.
    std::vector<Error> notices() const
    {
        const std::lock_guard lock(m_mutex);
        std::vector<Error> once;
        for (const Error& notice : m_notices) {
            if (std::find(once.begin(), once.end(), notice) == once.end())
                once.push_back(notice);
        }
        return once;
    }
    /// How often one was added.
    std::size_t noticeCount() const
    {
        const std::lock_guard lock(m_mutex);
        return m_notices.size();
    }

private:
    TaskContext& whole() noexcept { return m_whole ? m_whole->whole() : *this; }

    static constexpr std::chrono::steady_clock::duration NoDeadline = std::chrono::steady_clock::duration::max();

    TaskContext* const m_whole = nullptr; ///< null: it is no part of one
    std::atomic<bool> m_stop = false;
    std::atomic<std::chrono::steady_clock::duration> m_deadline = NoDeadline;
    std::atomic<bool> m_paused = false;
    std::atomic<std::uint64_t> m_done = 0;
    std::atomic<std::uint64_t> m_total = 0;
    std::atomic<int> m_patience = 0;
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    std::string m_phase;
    std::size_t m_waits = 0; ///< threads that wait
    std::string m_waitText;
    std::vector<Error> m_notices;
};

} // namespace deltascope
