#include "store/xet/xorb_queue.h"

#include "deltascope/base/threads.h"
#include "hash/crc.h"

#include <chrono>
#include <utility>

namespace deltascope::xet {

XorbQueue::~XorbQueue()
{
    m_task.requestStop();
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
    }
    m_changed.notify_all();
    for (std::jthread& thread : m_threads)
        thread.join();
}

Result<void> XorbQueue::push(const Hash& xorb, std::vector<std::byte> body, TaskContext& task)
{
    DS_CHECK(waitFor(m_sends - 1, task));
    if (m_threads.size() < m_sends) {
        Result<std::jthread> thread = startThread([this] { run(); });
        if (thread)
            m_threads.push_back(std::move(*thread));
        else if (m_threads.empty())
            return fail(std::move(thread.error()));
    }
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back({ xorb, std::move(body) });
        ++m_open;
    }
    m_changed.notify_all();
    return {};
}

Result<void> XorbQueue::drain(TaskContext& task) { return waitFor(0, task); }

std::vector<std::byte> XorbQueue::takeSpare()
{
    const std::lock_guard lock(m_mutex);
    if (m_spares.empty())
        return {};
    std::vector<std::byte> spare = std::move(m_spares.back());
    m_spares.pop_back();
    spare.clear();
    return spare;
}

std::uint64_t XorbQueue::sentBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_sentBytes;
}

Result<void> XorbQueue::waitFor(std::size_t most, TaskContext& task)
{
    constexpr auto Look = std::chrono::milliseconds(50); // a task tells nobody that it is to stop
    std::unique_lock lock(m_mutex);
    while (!m_error && m_open > most) {
        if (Result<void> going = task.going(); !going) {
            m_task.requestStop();
            return going;
        }
        m_changed.wait_for(lock, Look);
    }
    return m_error ? Result<void>(fail(*m_error)) : Result<void>();
}

void XorbQueue::run()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_isEnding || !m_waiting.empty(); });
        if (m_isEnding)
            return;
        Parcel parcel = std::move(m_waiting.front());
        m_waiting.pop_front();
        const bool isSent = !m_error;
        lock.unlock();
        const Result<void> outcome = isSent ? caught([&] { return sendParcel(parcel); }) : Result<void>();
        lock.lock();
        --m_open;
        if (!outcome && !m_error)
            m_error = outcome.error();
        if (isSent && outcome)
            m_sentBytes += parcel.bytes.size();
        if (m_spares.empty())
            m_spares.push_back(std::move(parcel.bytes));
        m_changed.notify_all();
    }
}

Result<void> XorbQueue::sendParcel(const Parcel& parcel)
{
    if (m_watcher)
        DS_CHECK(m_watcher(parcel.xorb, parcel.bytes.size()));
    // Nothing keeps the payload once the request is over.
    const auto body = std::make_shared<const MemoryPayload>(parcel.bytes);
    return m_post.send(parcel.xorb, body, crc64Nvme(parcel.bytes), m_task);
}

} // namespace deltascope::xet
