#pragma once

#include <QObject>

#include <atomic>
#include <cstdint>
#include <thread>

namespace deltascope::desktop {

/// Measures how long the GUI thread does not come back to its event loop: posts a tick every few milliseconds from
/// another thread and looks how late it is handled. For tests and debug builds. GUI thread.
class StallWatch final : public QObject {
    Q_OBJECT

public:
    explicit StallWatch(double reportAboveMs, QObject* parent = nullptr);
    ~StallWatch() override;

    double longestMs() const { return m_longestMs; } ///< since the last reset
    int stalls() const { return m_stalls; } ///< longer than the limit
    void reset();

signals:
    void stalled(double milliseconds);

private:
    void tick(std::int64_t sentNs);

    double m_limitMs;
    double m_longestMs = 0;
    int m_stalls = 0;
    std::atomic<bool> m_waiting = false;
    std::jthread m_thread; ///< last: it uses the above
};

} // namespace deltascope::desktop
