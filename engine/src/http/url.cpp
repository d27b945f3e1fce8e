#include "deltascope/engine/http_url.h"

#include "curl_handles.h"

namespace deltascope::http {

namespace {

std::string partOf(const CurlUrl& url, CURLUPart part, unsigned flags = 0)
{
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK)
        return {};
    const CurlText owned(text);
    return owned.get();
}

bool isUsualPort(const std::string& scheme, const std::string& port)
{
    return (scheme == "http" && port == "80") || (scheme == "https" && port == "443");
}

}

Result<Url> Url::parse(const std::string& text)
{
    const CurlUrl parsed(curl_url());
    if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return fail(Code::Usage, "this is no URL", {}, "write it as https://HOST/PATH");
    Url url;
    url.scheme = partOf(parsed, CURLUPART_SCHEME);
    url.userInfo = partOf(parsed, CURLUPART_USER);
    if (const std::string password = partOf(parsed, CURLUPART_PASSWORD); !password.empty())
        url.userInfo += ":" + password;
    url.host = partOf(parsed, CURLUPART_HOST);
    url.port = partOf(parsed, CURLUPART_PORT);
    url.path = partOf(parsed, CURLUPART_PATH);
    url.query = partOf(parsed, CURLUPART_QUERY);
    url.fragment = partOf(parsed, CURLUPART_FRAGMENT, CURLU_URLDECODE);
    return url;
}

std::string Url::authority() const { return port.empty() || isUsualPort(scheme, port) ? host : host + ":" + port; }

std::string Url::publicText() const { return scheme + "://" + authority() + path; }

} // namespace deltascope::http
