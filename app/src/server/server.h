#pragma once

#include "event_hub.h"
#include "http.h"
#include "server_options.h"

#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::server {

/// The daemon's HTTP side: one thread that never works, only waits. `api` and `hub` outlive it.
class Server {
public:
    /// Listens when it returns. Refuses addresses that others can reach without anything that tells them apart, or in
    /// clear text that nobody asked for, and files of secrets that others can write.
    static Result<std::unique_ptr<Server>> start(ServerOptions options, Api& api, EventHub& hub);
    ~Server(); ///< stops

    /// Ends all event streams, lets answers that are on their way out finish for half a second, and returns.
    void stop();

    std::uint16_t port() const noexcept; ///< 0 without TCP
    bool isLoopback() const noexcept; ///< only this machine can reach it
    /// What is allowed and not wise, a sentence each.
    const std::vector<std::string>& warnings() const noexcept;
    /// "http://127.0.0.1:7717/"; where it listens on all addresses, with the first of ServerOptions::allowedHosts.
    std::string url() const;
    /// The same with the one-time code. For the terminal of who started the daemon; never for a log.
    std::string signInUrl() const;

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace deltascope::server
