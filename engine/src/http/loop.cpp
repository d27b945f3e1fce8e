#include "loop.h"

#include "deltascope/base/threads.h"

#include <algorithm>
#include <csignal>

namespace deltascope::http {

namespace {

constexpr long MostKeptConnections = 64;

CurlMulti makeMulti()
{
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(ready);
    CurlMulti multi(curl_multi_init());
    curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, MostKeptConnections);
    return multi;
}

Environment environmentFor(const ClientOptions& options)
{
    Environment environment = readEnvironment();
    if (!options.caFile.empty()) {
        environment.caFile = options.caFile;
        environment.caFolder.clear();
    }
    return environment;
}

/// Signals are for the threads of the program; a connection that was closed is an error of its request.
void blockSignals()
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}

Client::Loop::Loop(const ClientOptions& options)
    : m_mostPerHost(std::max<std::size_t>(options.mostPerHost, 1))
    , m_environment(environmentFor(options))
    , m_multi(makeMulti())
{
}

Client::Loop::~Loop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isStopping = true;
    }
    curl_multi_wakeup(m_multi.get());
    if (m_thread.joinable())
        m_thread.join();
}

void Client::Loop::submit(std::shared_ptr<Transfer> transfer)
{
    transfer->onCancel([this] { curl_multi_wakeup(m_multi.get()); });
    {
        const std::lock_guard lock(m_mutex);
        if (!m_thread.joinable()) {
            Result<std::jthread> thread = startThread([this] { run(); });
            if (!thread) {
                transfer->finish(std::move(thread.error()));
                return;
            }
            m_thread = std::move(*thread);
        }
        m_submitted.push_back(std::move(transfer));
    }
    curl_multi_wakeup(m_multi.get());
}

Counters Client::Loop::counters() const
{
    return { m_meter.requests, m_meter.retries, m_meter.bytesIn, m_meter.bytesOut };
}

void Client::Loop::run()
{
    blockSignals();
    while (takeSubmitted()) {
        endOverdue();
        startWaiting();
        goOnWithPace();
        int running = 0;
        curl_multi_perform(m_multi.get(), &running);
        endFinished();
        curl_multi_poll(m_multi.get(), nullptr, 0, static_cast<int>(untilNextLook().count()), nullptr);
    }
    endAll();
}

/// False: it is time to stop.
bool Client::Loop::takeSubmitted()
{
    Transfers submitted;
    bool isStopping = false;
    {
        const std::lock_guard lock(m_mutex);
        submitted.swap(m_submitted);
        isStopping = m_isStopping;
    }
    for (auto& transfer : submitted) {
        if (Result<void> sendable = transfer->check(); !sendable)
            transfer->finish(std::move(sendable.error()));
        else
            m_lanes[transfer->host()].waiting.push_back(std::move(transfer));
    }
    return !isStopping;
}

void Client::Loop::startWaiting()
{
    const SteadyTime now = std::chrono::steady_clock::now();
    for (auto& [host, lane] : m_lanes) {
        for (; lane.active < m_mostPerHost && !lane.waiting.empty(); lane.waiting.pop_front()) {
            m_active.push_back(std::move(lane.waiting.front()));
            ++lane.active;
            curl_multi_add_handle(m_multi.get(), m_active.back()->prepare(m_environment, m_meter, now));
        }
    }
}

/// Those that share a pace take turns: who has waited longest goes first.
void Client::Loop::goOnWithPace()
{
    std::vector<std::pair<SteadyTime, Transfer*>> waiting;
    for (const auto& transfer : m_active) {
        if (const auto since = transfer->waitsSince())
            waiting.emplace_back(*since, transfer.get());
    }
    std::sort(waiting.begin(), waiting.end());
    for (const auto& [since, transfer] : waiting)
        transfer->goOn();
}

void Client::Loop::endFinished()
{
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(m_multi.get(), &left)) {
        const CURL* const easy = message->easy_handle;
        const CURLcode result = message->data.result; // the message does not outlive the handle's removal
        const auto place = std::find_if(m_active.begin(), m_active.end(),
                                        [easy](const auto& transfer) { return transfer->handle() == easy; });
        const std::shared_ptr<Transfer> transfer = *place;
        retire(place);
        transfer->finish(result);
    }
}

void Client::Loop::endOverdue()
{
    const SteadyTime now = std::chrono::steady_clock::now();
    for (std::size_t i = m_active.size(); i-- > 0;) {
        const std::shared_ptr<Transfer> transfer = m_active[i];
        if (std::optional<Error> error = transfer->overdue(now)) {
            retire(m_active.begin() + static_cast<std::ptrdiff_t>(i));
            transfer->finish(std::move(*error));
        }
    }
    for (auto& [host, lane] : m_lanes) {
        const auto isOver = [now](const std::shared_ptr<Transfer>& transfer) {
            std::optional<Error> error = transfer->overdue(now);
            if (error)
                transfer->finish(std::move(*error));
            return error.has_value();
        };
        lane.waiting.erase(std::remove_if(lane.waiting.begin(), lane.waiting.end(), isOver), lane.waiting.end());
    }
    std::erase_if(m_lanes, [](const auto& lane) { return lane.second.active == 0 && lane.second.waiting.empty(); });
}

void Client::Loop::endAll()
{
    const Error stopped { Code::Canceled, "stopped on request", {}, std::nullopt, {} };
    while (!m_active.empty()) {
        const std::shared_ptr<Transfer> transfer = m_active.back();
        retire(std::prev(m_active.end()));
        transfer->finish(stopped);
    }
    for (auto& [host, lane] : m_lanes) {
        for (const auto& transfer : lane.waiting)
            transfer->finish(stopped);
    }
    m_lanes.clear();
}

/// Takes it out; its room is free for another one.
void Client::Loop::retire(Transfers::iterator place)
{
    curl_multi_remove_handle(m_multi.get(), (*place)->handle());
    --m_lanes[(*place)->host()].active;
    m_active.erase(place);
}

std::chrono::milliseconds Client::Loop::untilNextLook() const
{
    constexpr auto Longest = std::chrono::milliseconds(60'000);
    SteadyTime next = SteadyTime::max();
    for (const auto& transfer : m_active)
        next = std::min(next, transfer->nextLook());
    for (const auto& [host, lane] : m_lanes) {
        if (!lane.waiting.empty() && lane.active < m_mostPerHost)
            return std::chrono::milliseconds(0); // room came free
        for (const auto& transfer : lane.waiting)
            next = std::min(next, transfer->nextLook());
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    if (next <= now)
        return std::chrono::milliseconds(0);
    return next - now >= Longest ? Longest : std::chrono::ceil<std::chrono::milliseconds>(next - now);
}

} // namespace deltascope::http
