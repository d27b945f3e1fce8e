#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::server {

/// What a caller may do. `admin` includes `act`, `act` includes `read`.
enum class Scope : unsigned char { Read, Act, Admin };

/// Who asks, as authentication found.
struct Principal {
    std::string name; ///< "local", or the name of a token
    Scope scope = Scope::Read;
};

/// A request that passed all guards (docs/http-api.md, "Safety"). Paths are below the base path and decoded.
struct HttpRequest {
    std::string method; ///< "GET", "POST"
    std::string path; ///< "/api/v1/runs"
    std::map<std::string, std::string, std::less<>> query; ///< decoded; of a repeated key the last value
    std::string body; ///< at most the body limit
    Principal principal;
};

/// An answer. Compression, entity tags that match, and the headers that every answer has are added by the server.
struct HttpResponse {
    int status = 200;
    std::string contentType = "application/json";
    std::string body;
    std::string etag; ///< without quotes; empty: none
    std::vector<std::pair<std::string, std::string>> headers; ///< further ones
};

/// Called exactly once, from any thread.
using Reply = std::function<void(HttpResponse)>;

/// What the server asks for everything under /api/v1/ but the session and event calls.
class Api {
public:
    virtual ~Api() = default;
    /// Returns at once; long answers come later.
    virtual void handle(const HttpRequest& request, Reply reply) = 0;
    /// Body of GET /metrics, Prometheus text format.
    virtual std::string metrics() = 0;
    /// Whether every source was opened (GET /readyz).
    virtual bool ready() = 0;
};

} // namespace deltascope::server
