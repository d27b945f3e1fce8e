#pragma once

#include "deltascope/base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::server {

/// How long a client may take.
struct Timeouts {
    std::chrono::milliseconds idle { 60'000 }; ///< between two requests
    std::chrono::milliseconds head { 10'000 }; ///< for a whole head
    std::chrono::milliseconds body { 30'000 }; ///< for a whole body
    std::chrono::milliseconds write { 20'000 }; ///< for the next piece of an answer or the next batch of events
    std::chrono::milliseconds ping { 15'000 }; ///< between two signs of life on an event stream
};

struct ServerOptions {
    std::string listen = "127.0.0.1:7717"; ///< host:port; port 0: any free one; empty: no TCP
    std::string unixSocket; ///< path; only its owner may connect
    std::string basePath = "/"; ///< where a proxy shows this daemon
    std::string tokenFile; ///< docs/http-api.md, "Who may do what"
    std::vector<std::string> allowedHosts; ///< names besides loopback and the one listened on
    std::string authProxyHeader; ///< names the user; only behind a proxy that always sets it
    std::vector<std::string> authProxyFrom; ///< networks of such proxies, besides the Unix socket; none: loopback
    std::string tlsCertificate; ///< PEM file of the chain, for TCP; empty: clear text
    std::string tlsKey; ///< PEM file of its key
    bool insecureHttp = false; ///< clear text may leave this machine
    std::vector<std::string> embedders; ///< origins whose pages may show ours
    bool allowActs = false;
    std::size_t bodyLimit = 65'536; ///< bytes; the largest that makes sense is a plan of some kilobytes
    std::size_t maxClients = 512; ///< connections at a time, event streams included
    std::size_t maxOfClient = 64; ///< the same of one address; without limit: trusted proxies and the Unix socket
    Timeouts timeouts;
};

/// Options with every default filled in, or what is wrong with them. Does not look at where others can connect from.
Result<ServerOptions> checked(ServerOptions options);

/// Browsers keep cookies by host name only, and the tunnels to many machines all end at "localhost": each daemon needs
/// a name of its own, the same one after a restart.
std::string cookieName(const ServerOptions& options, std::uint16_t port);

} // namespace deltascope::server
