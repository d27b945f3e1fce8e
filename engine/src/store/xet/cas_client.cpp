#include "store/xet/cas_client.h"

#include "deltascope/engine/http_url.h"

namespace deltascope::xet {

namespace {

/// The address of a path of the store.
std::string casAddress(std::string casUrl, const std::string& path)
{
    while (casUrl.ends_with('/'))
        casUrl.pop_back();
    return casUrl + path;
}

}

Result<http::Response> CasClient::send(Scope scope, http::Request request, TaskContext& task, std::string* address)
{
    constexpr int Unauthorized = 401;
    const std::string path = std::move(request.url);
    const http::Headers headers = std::move(request.headers);
    for (const bool isSecond : { false, true }) {
        DS_TRY(const Access access, m_access->access(scope, isSecond, task));
        request.url = casAddress(access.casUrl, path);
        request.headers = headers;
        request.headers.add("Authorization", "Bearer " + access.accessToken);
        if (address)
            *address = request.url;
        Result<http::Response> response = m_sender->send(request, task);
        if (isSecond || !response || response->status != Unauthorized)
            return response;
    }
    return fail(Code::Internal, "a request was sent neither once nor twice");
}

Result<http::Response> CasClient::sendSigned(Scope scope, http::Request request, TaskContext& task)
{
    DS_TRY(const Access access, m_access->access(scope, false, task));
    const Result<http::Url> url = http::Url::parse(request.url);
    const bool isPlainAllowed = access.casUrl.starts_with("http:");
    if (!url || !url->isHttp() || (url->scheme == "http" && !isPlainAllowed))
        return fail(Code::Hostile, "the store gives an address that is no safe one", url ? url->publicText() : "");
    return m_sender->send(request, task);
}

} // namespace deltascope::xet
