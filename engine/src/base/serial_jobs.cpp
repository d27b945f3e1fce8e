#include "serial_jobs.h"

#include "deltascope/base/threads.h"

#include <utility>

namespace deltascope {

SerialJobs::~SerialJobs()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
    }
    m_changed.notify_all();
    if (m_thread.joinable())
        m_thread.join();
}

void SerialJobs::add(std::uint64_t bytes, Job job)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_entries.empty() || m_bytes + bytes <= m_mostBytes; });
    if (!m_thread.joinable()) {
        Result<std::jthread> thread = startThread([this] { run(); });
        if (!thread) {
            job(); // under the lock, so that no other one is carried out at the same time
            return;
        }
        m_thread = std::move(*thread);
    }
    m_bytes += bytes;
    m_entries.push_back({ bytes, std::move(job) });
    m_changed.notify_all();
}

void SerialJobs::finish()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_entries.empty(); });
}

void SerialJobs::run()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [&] { return m_isEnding || !m_entries.empty(); });
        if (m_entries.empty())
            return;
        Job job = std::move(m_entries.front().job);
        lock.unlock();
        job();
        job = nullptr; // with what it holds
        lock.lock();
        m_bytes -= m_entries.front().bytes;
        m_entries.pop_front();
        m_changed.notify_all();
    }
}

} // namespace deltascope
