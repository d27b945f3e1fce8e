#pragma once

#include "deltascope/app/service.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace deltascope::app {

/// Tells those who started jobs what they ended with, on a thread of its own. Any thread.
class JobAnswers {
public:
    using Done = std::function<void(Result<JobResult>)>;

    /// `service` outlives it.
    explicit JobAnswers(Service& service);

    void ask(const std::function<JobId(Service&)>& start, Done done);

private:
    void loop(const std::stop_token& stop);

    Service& m_service;
    std::mutex m_bellMutex; ///< guards m_rung
    std::condition_variable_any m_bell;
    bool m_rung = false; ///< there are events
    std::mutex m_mutex; ///< guards m_asked
    std::map<JobId, Done> m_asked;
    std::unique_ptr<EventFeed> m_feed;
    std::jthread m_thread; ///< last: it uses everything above
};

} // namespace deltascope::app
