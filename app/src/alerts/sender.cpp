#include "deltascope/app/alert_sender.h"

#include "deltascope/base/threads.h"

#include "alerts/http_post.h"
#include "alerts/message.h"
#include "alerts/program_call.h"

#include <condition_variable>
#include <deque>
#include <fmt/format.h>
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
            if (Result<void> started = startLocked(); !started) {
                failLocked(std::move(started.error().text));
                return;
            }
            if (m_queue.size() == MostQueued) {
                m_queue.pop_front();
                failLocked(fmt::format("dropped: {} newer messages were waiting", MostQueued));
            }
            m_queue.push_back(std::move(body));
        }
        m_changed.notify_all();
    }

private:
    /// Errors: Io (the system gives no thread to send with).
    Result<void> startLocked()
    {
        if (!m_thread.joinable()) {
            DS_TRY(m_thread, startThread([this] { run(); }));
        }
        return {};
    }

    void failLocked(std::string why)
    {
        using namespace std::chrono;
        ++m_counts.failed;
        m_counts.lastArrived = false;
        m_counts.lastFailedUs = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
        m_counts.lastFailure = std::move(why);
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
            Result<DeliveryTry> last = caught([&]() -> Result<DeliveryTry> { return deliver(body, lock); });
            if (!lock.owns_lock())
                lock.lock();
            if (last && last->outcome == Delivery::Delivered) {
                ++m_counts.delivered;
                m_counts.lastArrived = true;
            } else {
                failLocked(last ? std::move(last->failure) : std::move(last.error().text));
            }
            m_isSending = false;
        }
    }

    /// The last try. Gives the lock back while it sends.
    DeliveryTry deliver(const std::string& body, std::unique_lock<std::mutex>& lock)
    {
        http::Headers headers;
        if (m_channel.kind == ChannelKind::Webhook && !m_channel.secret.empty())
            headers.add("X-Deltascope-Signature", "sha256=" + signatureOf(body, m_channel.secret));
        std::chrono::milliseconds pause = m_firstPause;
        DeliveryTry last { Delivery::Failed, "stopped on request" };
        for (int left = Tries; left > 0 && !m_stopping; --left, pause *= PauseGrowth) {
            lock.unlock();
            last = m_channel.kind == ChannelKind::Command ? m_program.call(m_channel.address, body)
                                                          : m_post.post(m_channel.address, body, headers);
            lock.lock();
            if (last.outcome != Delivery::Failed)
                return last;
            if (left > 1)
                m_changed.wait_for(lock, pause, [this] { return m_stopping; });
        }
        return last;
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
    for (const auto& line : lines()) {
        SentCounts counts = line->counts();
        AlertChannelView& view = views.emplace_back(channelView(line->channel()));
        view.sent = counts.delivered;
        view.failed = counts.failed;
        view.lastArrived = counts.lastArrived;
        view.lastFailedUs = counts.lastFailedUs;
        view.lastFailure = std::move(counts.lastFailure);
    }
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
