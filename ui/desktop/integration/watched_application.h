#pragma once

#include <QApplication>
#include <QEvent>

#include <cstdint>

namespace deltascope::desktop {

/// One event that kept the GUI thread for too long.
struct Stall {
    double ms = 0; ///< the event with all that it called, less what the thread waited for a processor
    double workMs = 0; ///< of this, time of a processor; the rest it waited, mostly for the display server
    double ownMs = 0; ///< of this, the longest part that one receiver took for itself
    QByteArray receiver; ///< class of that receiver
    QByteArray event; ///< what it was told: "Paint", "MetaCall", …
};

/// An application that can measure its own tasks: how long each event keeps the GUI thread. What runs an event loop of
/// its own, such as a menu, is not a task. GUI thread.
class WatchedApplication final : public QApplication {
    Q_OBJECT

public:
    using QApplication::QApplication;
    ~WatchedApplication() override;

    void watch(double limitMs); ///< from now on
    double longestMs() const { return m_longestMs; } ///< since watch()
    std::uint64_t events() const { return m_events; } ///< that were measured since watch()

    bool notify(QObject* receiver, QEvent* event) override;

signals:
    void stalled(const deltascope::desktop::Stall& stall);

private:
    struct Frame;
    std::int64_t waitedNs() const; ///< how long this thread was ready to run and did not

    double m_limitMs = 0; ///< 0: nothing is measured
    double m_longestMs = 0;
    std::uint64_t m_events = 0;
    int m_schedstat = -1;
    Frame* m_innermost = nullptr;
    Stall m_worst; ///< of the task that runs
};

} // namespace deltascope::desktop
