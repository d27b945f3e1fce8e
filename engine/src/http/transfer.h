#pragma once

#include "answer.h"
#include "curl_handles.h"
#include "environment.h"

#include "deltascope/engine/http.h"
#include "deltascope/engine/http_url.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace deltascope::http {

using SteadyTime = std::chrono::steady_clock::time_point;

/// One request from its start to its outcome.
class Transfer {
public:
    explicit Transfer(Request request);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    // Any thread.
    bool wait(std::chrono::milliseconds time) const;
    void cancel();
    Result<Response> take();
    /// `wake` makes the thread of the client notice cancel() at once. Before it is handed to that thread.
    void onCancel(std::function<void()> wake) { m_wake = std::move(wake); }

    // The thread of the client.
    /// Errors: Usage; it cannot be sent.
    Result<void> check() const;
    /// Requests to one of these share connections.
    std::string host() const { return m_url.scheme + "://" + m_url.authority(); }
    /// The handle that carries it out; lives until finish().
    CURL* prepare(const Environment& environment, Meter& meter, SteadyTime now);
    CURL* handle() const noexcept { return m_easy.get(); }
    /// Why it has to end now, if it has to.
    std::optional<Error> overdue(SteadyTime now);
    /// When overdue() may have something new to say; the greatest time if never.
    SteadyTime nextLook() const;
    /// Since when it has been waiting for its pace; nothing: it is not.
    std::optional<SteadyTime> waitsSince() const noexcept { return m_waitsSince; }
    /// Goes on if its pace allows it by now.
    void goOn();
    void finish(CURLcode result);
    void finish(Error error);

private:
    // What libcurl calls.
    static std::size_t onHeader(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t onBody(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t onSend(char* bytes, std::size_t size, std::size_t count, void* self);
    static int onSeek(void* self, curl_off_t offset, int origin);
    static int onProgress(void* self, curl_off_t, curl_off_t in, curl_off_t, curl_off_t out);

    void setRequest();
    void setBody();
    void setConnection(const Environment& environment);
    void addLine(const std::string& line);
    bool mustWait();
    void countRest();
    void countIn(std::uint64_t bytes);
    void countOut(std::uint64_t bytes);
    Result<Response> outcomeOf(CURLcode result);
    Error named(Error error) const;
    void end(Result<Response> outcome);

    const Request m_request;
    const Result<Url> m_parsed;
    const Url m_url;
    const SteadyTime m_begin = std::chrono::steady_clock::now();
    std::function<void()> m_wake;
    std::atomic<bool> m_isCanceled = false;

    // The thread of the client.
    Meter* m_meter = nullptr;
    CurlEasy m_easy;
    CurlLines m_lines;
    std::array<char, CURL_ERROR_SIZE> m_detail {};
    Answer m_answer { m_request, m_url.authority() };
    std::optional<Error> m_bodyError;
    std::uint64_t m_sent = 0; ///< of the body
    std::uint64_t m_in = 0, m_out = 0; ///< over the wire so far
    curl_off_t m_seenIn = 0, m_seenOut = 0; ///< of the bodies, as libcurl counts them
    std::uint64_t m_moved = 0; ///< m_in + m_out at m_mark
    SteadyTime m_mark = SteadyTime::max(); ///< since when it may stall
    std::optional<SteadyTime> m_waitsSince;

    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    std::optional<Result<Response>> m_outcome; ///< guarded by m_mutex
};

} // namespace deltascope::http
