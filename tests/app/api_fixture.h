#pragma once

#include "monitor_fixture.h"
#include "server/api/api.h"

#include <future>

namespace deltascope::server {

/// The HTTP API over a monitor, without sockets.
class ApiFixture : public app::MonitorFixture {
protected:
    using Json = nlohmann::json;
    using Query = std::map<std::string, std::string, std::less<>>;

    ApiFixture()
    {
        ApiOptions options;
        options.allowActs = true;
        api = makeApi(*service, *monitor, hub, options);
    }

    HttpResponse ask(const std::string& method, const std::string& path, const Query& query = {},
                     const std::string& body = {}, Scope scope = Scope::Admin)
    {
        const auto promise = std::make_shared<std::promise<HttpResponse>>();
        std::future<HttpResponse> answer = promise->get_future();
        api->handle({ method, "/api/v1/" + path, query, body, { "somebody", scope } },
                    [promise](HttpResponse response) { promise->set_value(std::move(response)); });
        if (answer.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
            ADD_FAILURE() << "no answer: " << path;
            return {};
        }
        return answer.get();
    }
    HttpResponse get(const std::string& path, const Query& query = {}) { return ask("GET", path, query); }
    /// The JSON of an answer that has to be there.
    Json json(const std::string& path, const Query& query = {})
    {
        const HttpResponse answer = get(path, query);
        EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
        return Json::parse(answer.body);
    }
    Json post(const std::string& path, const Json& body, int status = 200)
    {
        const HttpResponse answer = ask("POST", path, {}, body.dump());
        EXPECT_EQ(answer.status, status) << path << ": " << answer.body;
        return Json::parse(answer.body);
    }
    /// A run that was replayed and verified; its id.
    std::string followed(const app::SourceRequest& source, std::size_t steps)
    {
        const std::string id = monitor->follow(source, "", false);
        runWhen(id, [&](const app::RunSnapshot& run) {
            return run.run && run.run->settled && run.verified.size() == steps;
        });
        return id;
    }

    EventHub hub;
    std::unique_ptr<Api> api;
};

} // namespace deltascope::server
