#include "deltascope/base/threads.h"

#include "remote_monitor.h"
#include "view/capabilities_description.h"
#include "view/io/json_reader.h"

#include <algorithm>

namespace deltascope::app {

namespace {

class ConnectedServer final : public RemoteServer {
public:
    ConnectedServer(std::unique_ptr<Wire> wire, CapabilitiesView about)
        : m_about(std::move(about))
        , m_wire(std::move(wire))
        , m_service(*m_wire, m_runs, m_about)
        , m_monitor(*m_wire, m_runs, m_service)
    {
    }

    const ServerAddress& address() const noexcept override { return m_wire->address(); }
    const CapabilitiesView& about() const noexcept override { return m_about; }
    Service& service() noexcept override { return m_service; }
    Monitor& monitor() noexcept override { return m_monitor; }
    void tryAgain() override { m_monitor.tryAgain(); }
    void stop() noexcept override { m_wire->stop(); }

private:
    const CapabilitiesView m_about;
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
    DS_TRY(CapabilitiesView about, readJson(answer, readAs<CapabilitiesView>));
    return caught([&]() -> Result<std::unique_ptr<RemoteServer>> { // it starts threads
        return std::make_unique<ConnectedServer>(std::move(wire), std::move(about));
    });
}

} // namespace deltascope::app
