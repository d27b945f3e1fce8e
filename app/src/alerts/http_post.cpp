#include "alerts/http_post.h"

#include <fmt/format.h>

namespace deltascope::app {

DeliveryTry HttpPost::post(const std::string& url, const std::string& body, http::Headers headers)
{
    http::Request request;
    request.method = "POST";
    request.url = url;
    request.headers = std::move(headers);
    request.headers.add("Content-Type", "application/json");
    request.body = http::bodyOf(body);
    request.headAlone = true; // a receiver that is slow with its text has taken the message all the same
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
