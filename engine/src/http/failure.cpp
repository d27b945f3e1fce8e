#include "failure.h"

#include <fmt/format.h>
#include <system_error>

namespace deltascope::http {

namespace {

Error failureError(Code code, std::string text, const char* action = "")
{
    return { code, std::move(text), {}, std::nullopt, action };
}

Error noConnection(const Failure& failure)
{
    std::string why = failure.result == CURLE_SSL_CONNECT_ERROR ? failure.detail : std::string();
    if (why.empty() && failure.systemError != 0)
        why = std::generic_category().message(static_cast<int>(failure.systemError));
    return failureError(Code::Transient,
                        fmt::format("no connection to {}{}{}", failure.host, why.empty() ? "" : ": ", why));
}

/// libcurl says the same of what it cannot read and of where it must not go.
Error notUnderstood(const Failure& failure)
{
    if (failure.status >= 300 && failure.status < 400)
        return failureError(Code::Unsupported,
                            fmt::format("{} redirects to where it must not be followed", failure.host),
                            "see that the address is right, and that it begins with https if the server wants that");
    return failureError(Code::Unsupported, fmt::format("{} answers with something else than HTTP", failure.host),
                        "see that host, port and https or http are right");
}

Error untrusted(const Failure& failure)
{
    return failureError(Code::Io,
                        fmt::format("the certificate of {} cannot be trusted: {}", failure.host, failure.detail),
                        "where a proxy or a private authority signs certificates, name its own in SSL_CERT_FILE");
}

Error ended(const Failure& failure)
{
    return failureError(
        Code::Transient,
        fmt::format("the connection to {} ended before the answer; the request may have been carried out",
                    failure.host));
}

}

std::string secondsText(std::chrono::milliseconds time)
{
    return fmt::format("{:.3g} s", static_cast<double>(time.count()) / 1000);
}

Error errorOfFailure(const Failure& failure)
{
    switch (failure.result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return failureError(Code::Transient, fmt::format("the name of {} cannot be resolved", failure.host),
                            "see that the name is right and that this machine reaches the network");
    case CURLE_COULDNT_RESOLVE_PROXY:
        return failureError(Code::Transient, fmt::format("the proxy to {} cannot be resolved", failure.host),
                            "see what https_proxy, http_proxy and all_proxy say");
    case CURLE_COULDNT_CONNECT:
        return noConnection(failure);
    case CURLE_OPERATION_TIMEDOUT: // libcurl watches nothing else
        return failureError(
            Code::Transient,
            fmt::format("no connection to {} within {}", failure.host, secondsText(failure.connectWithin)));
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PROXY:
        return noConnection(failure);
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND: // it may not be sent twice
        return ended(failure);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return untrusted(failure);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return notUnderstood(failure);
    case CURLE_OUT_OF_MEMORY:
        if (!failure.hasHead) // so libcurl calls a line that is longer than it keeps
            return failureError(
                Code::Hostile, fmt::format("the headers that {} sends are larger than any server needs", failure.host));
        break;
    default:
        break;
    }
    return failureError(Code::Io, fmt::format("{}: {}", failure.host, curl_easy_strerror(failure.result)));
}

} // namespace deltascope::http
