#pragma once

#include <curl/curl.h>

#include <memory>

namespace deltascope::http {

template <auto Free> struct CurlFree {
    template <class Handle> void operator()(Handle* handle) const { Free(handle); }
};
using CurlEasy = std::unique_ptr<CURL, CurlFree<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CurlFree<curl_multi_cleanup>>;
using CurlLines = std::unique_ptr<curl_slist, CurlFree<curl_slist_free_all>>;
using CurlUrl = std::unique_ptr<CURLU, CurlFree<curl_url_cleanup>>;
using CurlText = std::unique_ptr<char, CurlFree<curl_free>>;

} // namespace deltascope::http
