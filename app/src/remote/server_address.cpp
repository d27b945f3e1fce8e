#include "deltascope/app/remote.h"

#include "deltascope/engine/http_url.h"

namespace deltascope::app {

namespace {

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
    const Result<http::Url> url = http::Url::parse(plain.find("://") == std::string::npos ? "http://" + plain : plain);
    const auto wrong = [](const char* what) {
        return fail(Code::Usage, what, {}, "write HOST:PORT, or the address that deltascope serve printed");
    };
    if (!url)
        return wrong("this is no address of a server");
    if (!url->isHttp())
        return wrong("a server is reached by http or https");
    if (!url->userInfo.empty() || !url->query.empty())
        return wrong("names, passwords and questions have no place in the address");
    ServerAddress address;
    address.host = url->authority();
    address.url = url->scheme + "://" + address.host + url->path + (url->path.ends_with('/') ? "" : "/");
    if (url->fragment.starts_with("k="))
        address.code = url->fragment.substr(2);
    address.exposed = url->scheme == "http" && !isLoopback(url->host);
    return address;
}

} // namespace deltascope::app
