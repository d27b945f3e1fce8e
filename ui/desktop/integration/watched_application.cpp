#include "integration/watched_application.h"

#include <QMetaEnum>
#include <QThread>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>

namespace deltascope::desktop {

namespace {

std::int64_t nowNs() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Of the processor, for this thread.
std::int64_t workedNs()
{
    timespec worked {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
    return std::int64_t { worked.tv_sec } * 1'000'000'000 + worked.tv_nsec;
}

constexpr double toMs(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

QByteArray nameOf(QEvent::Type type)
{
    static const QMetaEnum names = QMetaEnum::fromType<QEvent::Type>();
    const char* name = names.valueToKey(type);
    return name ? QByteArray(name) : QByteArray::number(type);
}

}

/// An event that is being handled; on the stack, as its handling is.
struct WatchedApplication::Frame {
    Frame* outer;
    int loopLevel;
    const char* receiver; ///< asked before: the receiver may not outlive the event
    QEvent::Type type;
    std::int64_t begunNs = 0;
    std::int64_t waitedNs = 0; ///< of the thread, at the begin of a task
    std::int64_t workedNs = 0; ///< as well
    std::int64_t innerNs = 0; ///< spent in events inside this one
    bool ranLoop = false;
};

WatchedApplication::~WatchedApplication()
{
    if (m_schedstat >= 0)
        ::close(m_schedstat);
}

void WatchedApplication::watch(double limitMs)
{
    m_limitMs = limitMs;
    m_longestMs = 0;
    m_events = 0;
    if (m_schedstat < 0)
        m_schedstat =
            ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC); // Linux; elsewhere nothing is deducted
}

std::int64_t WatchedApplication::waitedNs() const
{
    std::array<char, 96> text {}; // "<ns on a processor> <ns ready to run> <slices>"
    if (m_schedstat < 0 || ::pread(m_schedstat, text.data(), text.size() - 1, 0) <= 0)
        return 0;
    char* second = nullptr;
    std::strtoll(text.data(), &second, 10);
    return std::strtoll(second, nullptr, 10);
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event)
{
    if (m_limitMs <= 0 || QThread::currentThread() != thread())
        return QApplication::notify(receiver, event);

    Frame frame { m_innermost, thread()->loopLevel(), receiver->metaObject()->className(), event->type() };
    if (frame.outer && frame.outer->loopLevel < frame.loopLevel)
        for (Frame* outer = frame.outer; outer; outer = outer->outer)
            outer->ranLoop = true;
    const bool isTask = !frame.outer || frame.outer->ranLoop;
    if (isTask) {
        m_worst = {};
        frame.waitedNs = waitedNs();
        frame.workedNs = workedNs();
    }
    m_innermost = &frame;
    frame.begunNs = nowNs();
    const bool handled = QApplication::notify(receiver, event);
    const std::int64_t tookNs = nowNs() - frame.begunNs;
    m_innermost = frame.outer;
    if (frame.outer)
        frame.outer->innerNs += tookNs;
    if (frame.ranLoop)
        return handled;

    if (const double own = toMs(tookNs - frame.innerNs); own > m_worst.ownMs) {
        m_worst.ownMs = own;
        m_worst.receiver = frame.receiver;
        m_worst.event = nameOf(frame.type);
    }
    if (!isTask)
        return handled;
    ++m_events;
    const bool isLong = toMs(tookNs) > m_limitMs / 4; // else it makes no difference
    const double ms = toMs(tookNs - (isLong ? waitedNs() - frame.waitedNs : 0));
    m_longestMs = std::max(m_longestMs, ms);
    if (ms > m_limitMs) {
        m_worst.ms = ms;
        m_worst.workMs = toMs(workedNs() - frame.workedNs);
        emit stalled(m_worst);
    }
    return handled;
}

} // namespace deltascope::desktop
