#pragma once

#include "alerts/delivery.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

/// Posts JSON over HTTP(S). Follows no redirects and keeps nothing of the answers. One thread posts; any may stop it.
class HttpPost {
public:
    HttpPost();
    ~HttpPost();
    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    /// At most ten seconds. `headers`: further ones, whole lines.
    Delivery post(const std::string& url, const std::string& body, const std::vector<std::string>& headers);
    /// What is under way ends at once, and so does everything later.
    void stop();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace deltascope::app
