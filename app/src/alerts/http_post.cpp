#include "alerts/http_post.h"

#include <atomic>
#include <curl/curl.h>

namespace deltascope::app {

namespace {

constexpr long LongestMs = 10'000;

template <auto Free> struct Cleanup {
    template <class Handle> void operator()(Handle* handle) const { Free(handle); }
};
using Easy = std::unique_ptr<CURL, Cleanup<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Cleanup<curl_multi_cleanup>>;
using Headers = std::unique_ptr<curl_slist, Cleanup<curl_slist_free_all>>;

std::size_t dropAnswer(char*, std::size_t size, std::size_t count, void*) { return size * count; }

Easy request(const std::string& url, const std::string& body, curl_slist* headers)
{
    Easy easy(curl_easy_init());
    curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, dropAnswer);
    curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, LongestMs);
    curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_QUICK_EXIT, 1L); // does not wait for a name to be resolved
    return easy;
}

Delivery outcomeOf(CURL* easy, CURLcode result)
{
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (result != CURLE_OK)
        return Delivery::Failed;
    if (status >= 200 && status < 300)
        return Delivery::Delivered;
    return status == 408 || status == 429 || status >= 500 ? Delivery::Failed : Delivery::Refused;
}

}

struct HttpPost::State {
    Multi multi { curl_multi_init() };
    std::atomic<bool> stopped { false };

    /// What became of the only transfer; nothing while it is under way.
    const CURLMsg* end() const
    {
        int left = 0;
        return curl_multi_info_read(multi.get(), &left);
    }
};

HttpPost::HttpPost()
{
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(ready);
    m_state = std::make_unique<State>();
}

HttpPost::~HttpPost() = default;

Delivery HttpPost::post(const std::string& url, const std::string& body, const std::vector<std::string>& headers)
{
    Headers list(curl_slist_append(nullptr, "Content-Type: application/json"));
    for (const std::string& header : headers)
        list.reset(curl_slist_append(list.release(), header.c_str()));
    const Easy easy = request(url, body, list.get());
    curl_multi_add_handle(m_state->multi.get(), easy.get());
    Delivery outcome = Delivery::Failed;
    while (!m_state->stopped) {
        int running = 0;
        curl_multi_perform(m_state->multi.get(), &running);
        if (const CURLMsg* const end = m_state->end()) {
            outcome = outcomeOf(easy.get(), end->data.result);
            break;
        }
        curl_multi_poll(m_state->multi.get(), nullptr, 0, static_cast<int>(LongestMs), nullptr);
    }
    curl_multi_remove_handle(m_state->multi.get(), easy.get());
    return outcome;
}

void HttpPost::stop()
{
    m_state->stopped = true;
    curl_multi_wakeup(m_state->multi.get());
}

} // namespace deltascope::app
