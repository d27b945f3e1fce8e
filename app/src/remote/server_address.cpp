#include "deltascope/app/remote.h"

#include <curl/curl.h>

#include <memory>

namespace deltascope::app {

namespace {

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string partOf(const Url& url, CURLUPart part, unsigned flags = 0)
{
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK)
        return {};
    const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl_free);
    return text;
}

bool isLoopback(const std::string& host)
{
    return host == "localhost" || host == "[::1]"
        || (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

}

Result<ServerAddress> ServerAddress::parse(const std::string& text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    const std::string plain = begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
    const Url url(curl_url(), curl_url_cleanup);
    const std::string full = plain.find("://") == std::string::npos ? "http://" + plain : plain;
    const auto wrong = [](const char* what) {
        return fail(Code::Usage, what, {}, "write HOST:PORT, or the address that deltascope serve printed");
    };
    if (curl_url_set(url.get(), CURLUPART_URL, full.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return wrong("this is no address of a server");
    const std::string scheme = partOf(url, CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https")
        return wrong("a server is reached by http or https");
    if (!partOf(url, CURLUPART_USER).empty() || !partOf(url, CURLUPART_QUERY).empty())
        return wrong("names, passwords and questions have no place in the address");
    ServerAddress address;
    const std::string name = partOf(url, CURLUPART_HOST);
    const std::string port = partOf(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
    address.host = name + (port.empty() ? std::string() : ":" + port);
    const std::string path = partOf(url, CURLUPART_PATH);
    address.url = scheme + "://" + address.host + path + (path.ends_with('/') ? "" : "/");
    if (const std::string fragment = partOf(url, CURLUPART_FRAGMENT, CURLU_URLDECODE); fragment.starts_with("k="))
        address.code = fragment.substr(2);
    address.exposed = scheme == "http" && !isLoopback(name);
    return address;
}

} // namespace deltascope::app
