#pragma once

#include "deltascope/engine/http.h"
#include "deltascope/engine/http_retry.h"
#include "deltascope/engine/http_throttle.h"

#include <memory>

namespace deltascope {

/// What stands between one store and the client that all stores share: what the store sends is counted and kept below
/// its limits, and repeated where `repeats` says so. Any thread.
class SenderStack final : public http::Sender {
public:
    SenderStack(std::shared_ptr<http::Client> client, const http::ThrottlePolicy& limits, bool repeats)
        : m_client(std::move(client))
        , m_metered(*m_client)
        , m_throttled(m_metered, limits)
        , m_retrying(m_throttled)
        , m_outermost(repeats ? static_cast<http::Sender&>(m_retrying) : m_throttled)
    {
    }

    Result<http::Response> send(const http::Request& request, TaskContext& task) override
    {
        return m_outermost.send(request, task);
    }
    http::Counters counters() const override { return m_outermost.counters(); }

private:
    const std::shared_ptr<http::Client> m_client;
    http::MeteredSender m_metered;
    http::ThrottledSender m_throttled;
    http::RetryingSender m_retrying;
    http::Sender& m_outermost;
};

} // namespace deltascope
