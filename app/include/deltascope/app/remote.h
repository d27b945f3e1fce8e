#pragma once

#include "deltascope/app/monitor.h"
#include "deltascope/app/view/capabilities_view.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

/// Where a daemon is (docs/http-api.md).
struct ServerAddress {
    std::string url; ///< "http://127.0.0.1:7717/": with the base path and a slash at the end, without secrets
    std::string host; ///< "127.0.0.1:7717", to show
    std::string code; ///< what stood behind #k= of an address that a daemon printed; a secret
    bool exposed = false; ///< neither encrypted nor on this machine: who is on the way can read along and act

    /// Reads "HOST:PORT", an http or https URL, or what a daemon prints at start. Errors: Usage; they never quote it.
    static Result<ServerAddress> parse(const std::string& text);
};

/// A daemon elsewhere whose runs are kept here as copies, behind the same interfaces as those of this machine. When
/// contact is lost, the copies stay and their state is "lost" until it is back; a refused sign-in makes it "error".
class RemoteServer {
public:
    virtual ~RemoteServer() = default;

    /// Signs in and looks around; waits for the network, at most 10 s. `secret`: a token or a one-time code, empty
    /// where a proxy knows who asks; it is kept in memory alone. Errors: Auth, Transient (no contact), Unsupported
    /// (something else answers there), and what the server says.
    static Result<std::unique_ptr<RemoteServer>> connect(ServerAddress address, std::string secret);

    virtual const ServerAddress& address() const noexcept = 0;
    virtual const CapabilitiesView& about() const noexcept = 0;

    /// Jobs that the server does not offer end with Unsupported, acts are planned by the monitor.
    virtual Service& service() noexcept = 0;
    /// Its runs are those of the server; follow() knows them by their source alone.
    virtual Monitor& monitor() noexcept = 0;
    /// Makes contact at once where it is lost, without waiting for the next try. Any thread.
    virtual void tryAgain() = 0;
    /// Ends what waits for the server; from now on everything fails. Any thread.
    virtual void stop() noexcept = 0;
};

} // namespace deltascope::app
