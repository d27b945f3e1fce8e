#pragma once

#include "curl_handles.h"
#include "environment.h"
#include "transfer.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace deltascope::http {

/// The thread that carries out all requests of a client.
class Client::Loop {
public:
    explicit Loop(const ClientOptions& options);
    /// Ends everything that is under way.
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void submit(std::shared_ptr<Transfer> transfer);
    Counters counters() const;

private:
    using Transfers = std::vector<std::shared_ptr<Transfer>>;
    /// The requests to one host.
    struct Lane {
        std::size_t active = 0;
        std::deque<std::shared_ptr<Transfer>> waiting;
    };

    void run();
    bool takeSubmitted();
    void startWaiting();
    void goOnWithPace();
    void endFinished();
    void endOverdue();
    void endAll();
    void retire(Transfers::iterator place);
    std::chrono::milliseconds untilNextLook() const;

    const std::size_t m_mostPerHost;
    const Environment m_environment;
    Meter m_meter;

    // Of the thread alone.
    std::map<std::string, Lane> m_lanes;
    Transfers m_active;

    std::mutex m_mutex; ///< guards what follows
    Transfers m_submitted;
    bool m_isStopping = false;
    const CurlMulti m_multi; ///< of the thread, but for curl_multi_wakeup
    std::jthread m_thread; ///< once there is something to do
};

} // namespace deltascope::http
