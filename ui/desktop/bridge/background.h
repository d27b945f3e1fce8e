#pragma once

#include <QObject>
#include <QPointer>

#include <functional>
#include <memory>
#include <utility>

namespace deltascope::desktop {

/// The two doors between the GUI thread and the pool of threads that work for it. What goes through is handed over
/// under a lock of the standard library, so that a thread sanitizer sees it: Qt's own are hidden from it.
class Background final : public QObject {
    Q_OBJECT

public:
    /// Calls `work` on a thread of the pool. It must own all that it reads or read what outlives wait(). Any thread.
    static void start(std::function<void()> work);
    /// Calls `call` on the GUI thread, after what was handed in before, never at once. Any thread.
    static void tell(std::function<void()> call);
    /// Until all work that was started has ended; what it told may not have been called yet. GUI thread.
    static void wait();

signals:
    void told(QPrivateSignal); ///< from any thread, once for each call

private:
    class Calls;

    Background();
    ~Background() override;
    static Background& instance();

    const std::unique_ptr<Calls> m_work;
    const std::unique_ptr<Calls> m_told;
};

/// Calls `work` off the GUI thread, for what may wait for a disk or a server, then `done` with what it returned on the
/// GUI thread, unless `context` is gone by then.
template <class Work, class Done> void inBackground(QObject* context, Work work, Done done)
{
    Background::start([guard = QPointer(context), work = std::move(work), done = std::move(done)]() mutable {
        auto result = std::make_shared<decltype(work())>(work());
        Background::tell([guard, result, done = std::move(done)]() mutable {
            if (guard)
                done(std::move(*result));
        });
    });
}

} // namespace deltascope::desktop
