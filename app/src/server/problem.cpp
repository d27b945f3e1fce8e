#include "problem.h"

#include <nlohmann/json.hpp>

namespace deltascope::server {

namespace {

const char* titleOf(int status)
{
    switch (status) {
    case 400:
        return "Bad request";
    case 401:
        return "Not signed in";
    case 403:
        return "Forbidden";
    case 404:
        return "Not found";
    case 405:
        return "Method not allowed";
    case 409:
        return "Conflict";
    case 413:
        return "Too large";
    case 415:
        return "Unsupported media type";
    case 421:
        return "Unknown host name";
    case 422:
        return "Not possible";
    case 429:
        return "Too many failures";
    case 431:
        return "Request head too large";
    case 500:
        return "Failed";
    case 501:
        return "Not supported";
    case 503:
        return "Not available";
    case 507:
        return "No space";
    default:
        return "Error";
    }
}

}

HttpResponse problem(int status, Code code, std::string_view detail, std::string_view hint)
{
    const nlohmann::ordered_json body {
        { "type", "about:blank" }, { "title", titleOf(status) }, { "status", status },
        { "detail", detail },      { "code", word(code) },       { "hint", hint.empty() ? remedy(code) : hint },
    };
    HttpResponse response;
    response.status = status;
    response.contentType = "application/problem+json";
    response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return response;
}

} // namespace deltascope::server
