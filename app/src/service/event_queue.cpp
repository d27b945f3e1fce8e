#include "event_queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>

namespace deltascope::app {

namespace {

JobId jobOf(const Event& event)
{
    if (const auto* progressed = std::get_if<JobProgressed>(&event))
        return progressed->job.id;
    if (const auto* finished = std::get_if<JobFinished>(&event))
        return finished->job;
    if (const auto* published = std::get_if<Published>(&event))
        return published->job;
    return std::get<RunChanged>(event).job;
}

}

/// Shared between the bus and one feed, so that either may go first.
class EventQueue {
public:
    explicit EventQueue(std::function<void()> wake)
        : m_wake(std::move(wake))
    {
    }

    void push(const Event& event)
    {
        bool first = false;
        {
            const std::lock_guard lock(m_mutex);
            first = m_events.empty();
            const bool replaces = !std::holds_alternative<JobFinished>(event);
            const auto old = std::find_if(m_events.begin(), m_events.end(), [&](const Event& other) {
                return replaces && other.index() == event.index() && jobOf(other) == jobOf(event);
            });
            if (old != m_events.end())
                *old = event;
            else
                m_events.push_back(event);
        }
        m_filled.notify_all();
        if (!first)
            return;
        const std::lock_guard lock(m_wakeMutex);
        if (m_wake)
            m_wake();
    }

    std::vector<Event> take()
    {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_events, {});
    }

    void wait(int milliseconds)
    {
        std::unique_lock lock(m_mutex);
        m_filled.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return !m_events.empty(); });
    }

    /// After this `wake` never runs again.
    void close()
    {
        const std::lock_guard lock(m_wakeMutex);
        m_wake = nullptr;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_filled;
    std::vector<Event> m_events;
    std::mutex m_wakeMutex;
    std::function<void()> m_wake;
};

namespace {

class QueueFeed final : public EventFeed {
public:
    explicit QueueFeed(std::shared_ptr<EventQueue> queue)
        : m_queue(std::move(queue))
    {
    }
    ~QueueFeed() override { m_queue->close(); }
    std::vector<Event> take() override { return m_queue->take(); }
    void wait(int milliseconds) override { m_queue->wait(milliseconds); }

private:
    std::shared_ptr<EventQueue> m_queue;
};

}

std::unique_ptr<EventFeed> EventBus::subscribe(std::function<void()> wake)
{
    auto queue = std::make_shared<EventQueue>(std::move(wake));
    const std::lock_guard lock(m_mutex);
    m_queues.push_back(queue);
    return std::make_unique<QueueFeed>(std::move(queue));
}

void EventBus::publish(const Event& event)
{
    std::vector<std::shared_ptr<EventQueue>> queues;
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_queues, [](const std::weak_ptr<EventQueue>& queue) { return queue.expired(); });
        for (const std::weak_ptr<EventQueue>& queue : m_queues) {
            if (std::shared_ptr<EventQueue> alive = queue.lock())
                queues.push_back(std::move(alive));
        }
    }
    for (const std::shared_ptr<EventQueue>& queue : queues)
        queue->push(event);
}

} // namespace deltascope::app
