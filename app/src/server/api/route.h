#pragma once

#include "server/http.h"

#include "deltascope/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// A request that found its route.
struct Call {
    HttpRequest request;
    std::vector<std::string> parts; ///< what stands in place of the {} of the route
    Reply reply;
};

/// Paths below /api/v1 and what answers them. A part "{}" of a pattern stands for any one part of a path.
class Routes {
public:
    using Handler = std::function<void(Call)>;

    void add(std::string_view method, std::string_view pattern, Scope scope, Handler handler);
    /// Answers with the first route that fits; 404, 405 or 403 else.
    void handle(const HttpRequest& request, Reply reply) const;

private:
    struct Route {
        std::string method;
        std::vector<std::string> pattern;
        Scope scope;
        Handler handler;
    };
    std::vector<Route> m_routes;
};

HttpResponse jsonAnswer(std::string body, std::string etag = {});
/// The answer for an error of the application.
HttpResponse errorAnswer(const Error& error);

/// A number of the query between `least` and `most`; nothing if it is not there. Errors: Usage.
Result<std::optional<std::int64_t>> numberOf(const HttpRequest& request, std::string_view key, std::int64_t least = 0,
                                             std::int64_t most = INT64_MAX);
/// The whole text as a number. Errors: Usage.
Result<std::int64_t> parseNumber(const std::string& text, std::string_view what, std::int64_t least = 0,
                                 std::int64_t most = INT64_MAX);
std::string textOf(const HttpRequest& request, std::string_view key);

} // namespace deltascope::server
