#pragma once

#include "auth.h"
#include "router.h"
#include "server_options.h"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <memory>
#include <set>

namespace deltascope::server {

class Connection;
class EventStream;

/// A connected socket, TCP or Unix, with time limits.
using Stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

/// What connections share. Touched by the thread of `io` only.
struct Core {
    Core(ServerOptions serverOptions, std::shared_ptr<boost::asio::io_context> context, std::vector<Token> tokens,
         const std::string& cookieName, Guards guards, Api& theApi, EventHub& theHub)
        : options(std::move(serverOptions))
        , io(std::move(context))
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
    Api& api;
    EventHub& hub;
    Auth auth;
    Router router;
    std::set<std::shared_ptr<Connection>> connections;
    std::set<std::shared_ptr<EventStream>> streams;
    bool stopping = false;
};

} // namespace deltascope::server
