#include "job_answers.h"

#include <utility>

namespace deltascope::app {

JobAnswers::JobAnswers(Service& service)
    : m_service(service)
    , m_feed(service.subscribe([this] {
        {
            const std::lock_guard lock(m_bellMutex);
            m_rung = true;
        }
        m_bell.notify_all();
    }))
    , m_thread([this](const std::stop_token& stop) { loop(stop); })
{
}

void JobAnswers::ask(const std::function<JobId(Service&)>& start, Done done)
{
    const std::lock_guard lock(m_mutex); // the end of the job waits until it is known who asks
    m_asked.emplace(start(m_service), std::move(done));
}

void JobAnswers::loop(const std::stop_token& stop)
{
    const auto rung = [this, &stop] {
        std::unique_lock lock(m_bellMutex);
        return m_bell.wait(lock, stop, [this] { return std::exchange(m_rung, false); });
    };
    while (rung()) {
        for (Event& event : m_feed->take()) {
            auto* const finished = std::get_if<JobFinished>(&event);
            if (!finished)
                continue;
            Done asker;
            {
                const std::lock_guard lock(m_mutex);
                if (const auto asked = m_asked.find(finished->job); asked != m_asked.end()) {
                    asker = std::move(asked->second);
                    m_asked.erase(asked);
                }
            }
            if (asker)
                asker(std::move(finished->outcome));
        }
    }
}

} // namespace deltascope::app
