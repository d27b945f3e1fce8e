#include "job_answers.h"

namespace deltascope::app {

JobAnswers::JobAnswers(Service& service)
    : m_service(service)
    , m_feed(service.subscribe([] {}))
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
    while (!stop.stop_requested()) {
        m_feed->wait(100);
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
