#pragma once

#include "monitor_fixture.h"
#include "server/api/api.h"
#include "server/server.h"

#include "deltascope/app/remote.h"

#include "support/eventually.h"

#include <fmt/format.h>
#include <future>

namespace deltascope::app {

/// A daemon in this process, on a port of its own, and who connects to it.
class RemoteFixture : public MonitorFixture {
protected:
    static constexpr const char* Reader = "reader-reader-reader";
    static constexpr const char* Actor = "actor-actor-actor-actor";
    static constexpr const char* Admin = "admin-admin-admin-admin";

    ~RemoteFixture() override
    {
        remote.reset();
        stopServer();
    }

    void startServer(bool allowActs = true, std::uint16_t port = 0)
    {
        server::ApiOptions shown;
        shown.allowActs = allowActs;
        api = server::makeApi(*service, *monitor, hub, shown);
        server::ServerOptions options;
        options.listen = fmt::format("127.0.0.1:{}", port);
        options.allowActs = allowActs;
        options.tokenFile =
            home.write("tokens", fmt::format("reader read {}\nactor act {}\nadmin admin {}\n", Reader, Actor, Admin));
        std::filesystem::permissions(options.tokenFile, std::filesystem::perms(0600));
        auto started = server::Server::start(options, *api, hub);
        ASSERT_TRUE(started) << started.error().text;
        daemon = std::move(*started);
    }
    void stopServer()
    {
        daemon.reset();
        api.reset();
    }

    Result<std::unique_ptr<RemoteServer>> tryToConnect(const std::string& secret) const
    {
        return RemoteServer::connect(ServerAddress::parse(daemon->url()).value(), secret);
    }
    void connect(const std::string& secret = Actor)
    {
        auto connected = tryToConnect(secret);
        ASSERT_TRUE(connected) << connected.error().text;
        remote = std::move(*connected);
    }

    /// The copy of a run once it is as wanted.
    Snapshot copyWhen(const std::string& id, const std::function<bool(const RunSnapshot&)>& wanted) const
    {
        Snapshot found;
        eventually([&] {
            found = remote->monitor().run(id);
            return found && wanted(*found);
        });
        return found ? found : std::make_shared<const RunSnapshot>();
    }
    /// The copy once it has everything that is here.
    Snapshot copyOf(const std::string& id) const
    {
        const Snapshot here = monitor->run(id);
        return copyWhen(id, [&](const RunSnapshot& copy) { return copy.run && copy.revision >= here->revision; });
    }
    static void eventually(const std::function<bool()>& condition)
    {
        EXPECT_TRUE(test::eventually(condition)) << "what was waited for did not happen";
    }

    template <class View, class Start> std::shared_ptr<const View> remoteView(Start start) const
    {
        const Result<JobResult> result = remoteResult(start);
        EXPECT_TRUE(result) << (result ? "" : result.error().text);
        return result ? std::get<std::shared_ptr<const View>>(*result) : std::make_shared<const View>();
    }
    Result<JobResult> remoteResult(const std::function<JobId(Service&)>& start) const
    {
        auto promise = std::make_shared<std::promise<Result<JobResult>>>();
        auto future = promise->get_future();
        remote->monitor().ask(start, [promise](Result<JobResult> result) { promise->set_value(std::move(result)); });
        if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready)
            return fail(Code::Internal, "no answer");
        return future.get();
    }

    server::EventHub hub;
    std::unique_ptr<server::Api> api;
    std::unique_ptr<server::Server> daemon;
    std::unique_ptr<RemoteServer> remote;
};

} // namespace deltascope::app
