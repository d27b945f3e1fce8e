#include "alerts/http_post.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

/// Has no use for what a receiver says.
class DroppingSink final : public http::Sink {
public:
    void begin(const http::Response&) override { }
    Result<void> take(ByteSpan) override { return {}; }
};

}

DeliveryTry HttpPost::post(const std::string& url, const std::string& body, http::Headers headers)
{
    DroppingSink answer;
    http::Request request;
    request.method = "POST";
    request.url = url;
    request.headers = std::move(headers);
    request.headers.add("Content-Type", "application/json");
    request.body = http::bodyOf(body);
    request.destination = &answer;
    request.repeatable = true; // a message that comes twice is better than none
    request.finishWithin = std::chrono::seconds(10);
    const Result<http::Response> response = m_client.send(request, m_task);
    if (!response)
        return { Delivery::Failed, response.error().text };
    if (response->isGood())
        return {};
    const int status = response->status;
    const bool mayPass = status == 408 || status == 429 || status >= 500;
    return { mayPass ? Delivery::Failed : Delivery::Refused, fmt::format("the server answers with status {}", status) };
}

} // namespace deltascope::app
