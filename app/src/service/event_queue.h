#pragma once

#include "deltascope/app/events.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace deltascope::app {

class EventQueue;

/// Hands every event to every feed. Any thread.
class EventBus {
public:
    std::unique_ptr<EventFeed> subscribe(std::function<void()> wake);
    void publish(const Event& event);

private:
    std::mutex m_mutex;
    std::vector<std::weak_ptr<EventQueue>> m_queues;
};

} // namespace deltascope::app
