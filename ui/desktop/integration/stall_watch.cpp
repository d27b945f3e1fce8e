#include "integration/stall_watch.h"

#include <QMetaObject>

#include <algorithm>
#include <chrono>

namespace deltascope::desktop {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto Interval = std::chrono::milliseconds(2);

std::int64_t nowNs() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

}

StallWatch::StallWatch(double reportAboveMs, QObject* parent)
    : QObject(parent)
    , m_limitMs(reportAboveMs)
    , m_thread([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (!m_waiting.exchange(true)) {
                const std::int64_t sent = nowNs();
                QMetaObject::invokeMethod(
                    this, [this, sent] { tick(sent); }, Qt::QueuedConnection);
            }
            std::this_thread::sleep_for(Interval);
        }
    })
{
}

StallWatch::~StallWatch() = default;

void StallWatch::reset()
{
    m_longestMs = 0;
    m_stalls = 0;
}

void StallWatch::tick(std::int64_t sentNs)
{
    m_waiting = false;
    const double late = static_cast<double>(nowNs() - sentNs) / 1e6;
    m_longestMs = std::max(m_longestMs, late);
    if (late <= m_limitMs)
        return;
    ++m_stalls;
    emit stalled(late);
}

} // namespace deltascope::desktop
