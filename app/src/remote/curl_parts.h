#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

template <auto Free> struct CurlCleanup {
    template <class Handle> void operator()(Handle* handle) const { Free(handle); }
};
using CurlEasy = std::unique_ptr<CURL, CurlCleanup<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CurlCleanup<curl_multi_cleanup>>;
using CurlHeaders = std::unique_ptr<curl_slist, CurlCleanup<curl_slist_free_all>>;

inline CurlHeaders curlHeaders(const std::vector<std::string>& lines)
{
    CurlHeaders list;
    for (const std::string& line : lines)
        list.reset(curl_slist_append(list.release(), line.c_str()));
    return list;
}

/// What every request to a server has in common: no redirects, no proxy for this machine, no signals.
inline void setCommon(CURL* easy, const std::string& url, const curl_slist* headers)
{
    constexpr long ConnectMs = 10'000;
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, ConnectMs);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // does not wait for a name to be resolved
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
}

} // namespace deltascope::app
