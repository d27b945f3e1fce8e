#pragma once

#include "deltascope/engine/http.h"

#include "support/scripted_server.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

// Requests of the HTTP client, and servers that answer them, for its tests.

namespace deltascope::http_test {

using namespace http;
using test::answerText;
using test::ScriptedServer;
using Connection = ScriptedServer::Connection;
using Seen = ScriptedServer::Request;

inline Request get(const std::string& url)
{
    Request request;
    request.url = url;
    return request;
}

inline Request post(const std::string& url, std::string body)
{
    Request request = get(url);
    request.method = "POST";
    request.body = bodyOf(std::move(body));
    return request;
}

inline ScriptedServer::Script always(std::string answer)
{
    return [answer = std::move(answer)](const Seen&, Connection& connection) { connection.send(answer); };
}

class HttpClient : public testing::Test {
protected:
    Result<Response> send(const Request& request) { return client.send(request, task); }
    /// The error of a request that must fail.
    Error errorOf(const Request& request)
    {
        const Result<Response> response = send(request);
        EXPECT_FALSE(response) << "status " << (response ? response->status : 0);
        return response ? Error {} : response.error();
    }

    Client client;
    TaskContext task;
};

} // namespace deltascope::http_test
