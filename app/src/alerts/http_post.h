#pragma once

#include "alerts/delivery.h"

#include "deltascope/base/task.h"
#include "deltascope/engine/http.h"

#include <string>

namespace deltascope::app {

/// Posts JSON over HTTP(S). Follows no redirects and reads of answers the status alone. Sends nothing twice. One thread
/// posts; any may stop it.
class HttpPost {
public:
    /// `client` must live as long.
    explicit HttpPost(http::Client& client)
        : m_client(client)
    {
    }

    /// At most ten seconds. `headers`: further ones.
    DeliveryTry post(const std::string& url, const std::string& body, http::Headers headers);
    /// What is under way ends at once, and so does everything later.
    void stop() { m_task.requestStop(); }

private:
    http::Client& m_client;
    TaskContext m_task;
};

} // namespace deltascope::app
