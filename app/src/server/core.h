#pragma once

#include "auth.h"
#include "client_stream.h"
#include "connection_slots.h"
#include "router.h"
#include "server_options.h"
#include "trusted_proxies.h"

#include <boost/asio/io_context.hpp>
#include <memory>
#include <set>

namespace deltascope::server {

class Connection;
class EventStream;

/// What connections share. Touched by the thread of `io` only.
struct Core {
    Core(ServerOptions serverOptions, std::shared_ptr<boost::asio::io_context> context, std::vector<Token> tokens,
         const std::string& cookieName, Guards guards, TrustedProxies trustedProxies,
         std::shared_ptr<boost::asio::ssl::context> tlsContext, Api& theApi, EventHub& theHub)
        : options(std::move(serverOptions))
        , io(std::move(context))
        , proxies(std::move(trustedProxies))
        , tls(std::move(tlsContext))
        , api(theApi)
        , hub(theHub)
        , auth(std::move(tokens), options.allowActs)
        , router(options.basePath, cookieName, std::move(guards), Site(embeddedAssets(), options.basePath), auth, hub,
                 api)
    {
    }

    const ServerOptions options;
    /// Shared with every Reply, which may come when the server is gone.
    const std::shared_ptr<boost::asio::io_context> io;
    const TrustedProxies proxies;
    const std::shared_ptr<boost::asio::ssl::context> tls; ///< of TCP; null: clear text
    Api& api;
    EventHub& hub;
    Auth auth;
    Router router;
    ConnectionSlots slots; ///< connections and streams together
    std::set<std::shared_ptr<Connection>> connections;
    std::set<std::shared_ptr<EventStream>> streams;
    bool stopping = false;
};

} // namespace deltascope::server
