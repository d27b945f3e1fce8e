#include "deltascope/app/alert_sender.h"

#include "deltascope/base/threads.h"

#include "alerts/http_post.h"
#include "alerts/message.h"
#include "alerts/program_call.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace deltascope::app {

namespace {

constexpr std::size_t MostQueued = 100; // per channel; the oldest are dropped
constexpr int Tries = 4;
constexpr int PauseGrowth = 4;

}

/// One channel, its queue and its thread.
class AlertSender::Line {
public:
    Line(AlertChannel channel, std::chrono::milliseconds firstPause, http::Client& client)
        : m_channel(std::move(channel))
        , m_firstPause(firstPause)
        , m_post(client)
    {
    }
    ~Line()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stopping = true;
        }
        m_changed.notify_all();
        m_post.stop();
        m_program.stop();
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    const AlertChannel& channel() const { return m_channel; }

    SentCounts counts() const
    {
        const std::lock_guard lock(m_mutex);
        SentCounts counts = m_counts;
        counts.waiting = m_queue.size() + (m_isSending ? 1 : 0);
        return counts;
    }

    void add(std::string body)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!startLocked()) {
                ++m_counts.failed;
                return;
            }
            if (m_queue.size() == MostQueued) {
                m_queue.pop_front();
                ++m_counts.dropped;
            }
            m_queue.push_back(std::move(body));
        }
        m_changed.notify_all();
    }

private:
    /// False: the system gives no thread to send with.
    bool startLocked()
    {
        if (m_thread.joinable())
            return true;
        Result<std::jthread> thread = startThread([this] { run(); });
        if (thread)
            m_thread = std::move(*thread);
        return thread.has_value();
    }

    void run()
    {
        std::unique_lock lock(m_mutex);
        while (true) {
            m_changed.wait(lock, [this] { return m_stopping || !m_queue.empty(); });
            if (m_stopping)
                return;
            const std::string body = std::move(m_queue.front());
            m_queue.pop_front();
            m_isSending = true;
            const Result<bool> delivered = caught([&]() -> Result<bool> { return deliver(body, lock); });
            if (!lock.owns_lock())
                lock.lock();
            ++(delivered.value_or(false) ? m_counts.delivered : m_counts.failed);
            m_isSending = false;
        }
    }

    /// Gives the lock back while it sends.
    bool deliver(const std::string& body, std::unique_lock<std::mutex>& lock)
    {
        http::Headers headers;
        if (m_channel.kind == ChannelKind::Webhook && !m_channel.secret.empty())
            headers.add("X-Deltascope-Signature", "sha256=" + signatureOf(body, m_channel.secret));
        std::chrono::milliseconds pause = m_firstPause;
        for (int left = Tries; left > 0 && !m_stopping; --left, pause *= PauseGrowth) {
            lock.unlock();
            const Delivery outcome = m_channel.kind == ChannelKind::Command
                ? m_program.call(m_channel.address, body)
                : m_post.post(m_channel.address, body, headers);
            lock.lock();
            if (outcome != Delivery::Failed)
                return outcome == Delivery::Delivered;
            if (left > 1)
                m_changed.wait_for(lock, pause, [this] { return m_stopping; });
        }
        return false;
    }

    const AlertChannel m_channel;
    const std::chrono::milliseconds m_firstPause;
    HttpPost m_post;
    ProgramCall m_program;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::string> m_queue;
    SentCounts m_counts;
    bool m_isSending = false;
    bool m_stopping = false;
    std::jthread m_thread; ///< once there is something to send; last: it uses all of the above
};

AlertSender::AlertSender(std::vector<AlertChannel> channels, std::string pageUrl, std::chrono::milliseconds firstPause)
    : m_firstPause(firstPause)
    , m_client(std::make_unique<http::Client>())
{
    setChannels(std::move(channels), std::move(pageUrl));
}

AlertSender::~AlertSender() = default;

void AlertSender::setChannels(std::vector<AlertChannel> channels, std::string pageUrl)
{
    Lines lines;
    for (AlertChannel& channel : channels)
        lines.push_back(std::make_shared<Line>(std::move(channel), m_firstPause, *m_client));
    const std::lock_guard lock(m_mutex);
    m_lines.swap(lines);
    m_pageUrl = std::move(pageUrl);
}

void AlertSender::send(const AlertView& alert, std::int64_t nowUs)
{
    std::string page;
    {
        const std::lock_guard lock(m_mutex);
        page = m_pageUrl.empty() ? std::string() : m_pageUrl + "r/" + alert.run;
    }
    for (const auto& line : lines()) {
        if (alert.level >= line->channel().minLevel)
            line->add(messageBody(line->channel().kind, alert, page, nowUs));
    }
}

void AlertSender::test(std::size_t channel, std::int64_t nowUs)
{
    const Lines all = lines();
    if (channel < all.size())
        all[channel]->add(messageBody(all[channel]->channel().kind, testAlert(nowUs), {}, nowUs));
}

AlertSender::Lines AlertSender::lines() const
{
    const std::lock_guard lock(m_mutex);
    return m_lines;
}

std::vector<AlertChannelView> AlertSender::channels() const
{
    std::vector<AlertChannelView> views;
    for (const auto& line : lines())
        views.push_back(channelView(line->channel()));
    return views;
}

std::vector<SentCounts> AlertSender::counts() const
{
    std::vector<SentCounts> counts;
    for (const auto& line : lines())
        counts.push_back(line->counts());
    return counts;
}

} // namespace deltascope::app
