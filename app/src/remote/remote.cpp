#include "deltascope/base/threads.h"

#include "remote_monitor.h"

#include <algorithm>

namespace deltascope::app {

namespace {

ServerAbout readAbout(const json& from)
{
    ServerAbout about;
    about.version = read<std::string>(from, "version");
    about.principal = read<std::string>(from, "principal");
    about.scopes = readList<std::string>(from, "scopes");
    about.backends = readList<std::string>(from, "backends");
    return about;
}

class ConnectedServer final : public RemoteServer {
public:
    ConnectedServer(std::unique_ptr<Wire> wire, ServerAbout about)
        : m_about(std::move(about))
        , m_wire(std::move(wire))
        , m_service(*m_wire, m_runs, m_about)
        , m_monitor(*m_wire, m_runs, m_service)
    {
    }

    const ServerAddress& address() const noexcept override { return m_wire->address(); }
    const ServerAbout& about() const noexcept override { return m_about; }
    Service& service() noexcept override { return m_service; }
    Monitor& monitor() noexcept override { return m_monitor; }
    void tryAgain() override { m_monitor.tryAgain(); }
    void stop() noexcept override { m_wire->stop(); }

private:
    const ServerAbout m_about;
    std::unique_ptr<Wire> m_wire;
    RemoteRuns m_runs;
    RemoteService m_service;
    RemoteMonitor m_monitor;
};

}

Result<std::unique_ptr<RemoteServer>> RemoteServer::connect(ServerAddress address, std::string secret)
{
    address.code.clear(); // what is wanted of it is the secret
    auto wire = std::make_unique<Wire>(std::move(address), std::move(secret));
    DS_CHECK(wire->signIn());
    DS_TRY(const std::string answer, wire->get("capabilities"));
    DS_TRY(ServerAbout about, readJson(answer, readAbout));
    return caught([&]() -> Result<std::unique_ptr<RemoteServer>> { // it starts threads
        return std::make_unique<ConnectedServer>(std::move(wire), std::move(about));
    });
}

} // namespace deltascope::app
