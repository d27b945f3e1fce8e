#include "bridge/background.h"

#include <QCoreApplication>
#include <QThreadPool>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace deltascope::desktop {

class Background::Calls {
public:
    void push(std::function<void()> call)
    {
        const std::lock_guard lock(m_mutex);
        m_calls.push_back(std::move(call));
        ++m_open;
    }
    void callNext()
    {
        take()(); // and what it owns goes before it counts as done
        const std::lock_guard lock(m_mutex);
        if (--m_open == 0)
            m_done.notify_all();
    }
    void wait()
    {
        std::unique_lock lock(m_mutex);
        m_done.wait(lock, [this] { return m_open == 0; });
    }

private:
    std::function<void()> take()
    {
        const std::lock_guard lock(m_mutex);
        std::function<void()> call = std::move(m_calls.front());
        m_calls.pop_front();
        return call;
    }

    std::mutex m_mutex;
    std::condition_variable m_done;
    std::deque<std::function<void()>> m_calls;
    std::size_t m_open = 0; ///< that wait or run
};

Background::Background()
    : m_work(std::make_unique<Calls>())
    , m_told(std::make_unique<Calls>())
{
    moveToThread(QCoreApplication::instance()->thread());
    connect(
        this, &Background::told, this, [this] { m_told->callNext(); }, Qt::QueuedConnection);
}

Background::~Background() { m_work->wait(); }

Background& Background::instance()
{
    static Background background;
    return background;
}

void Background::start(std::function<void()> work)
{
    instance().m_work->push(std::move(work));
    QThreadPool::globalInstance()->start([] { instance().m_work->callNext(); });
}

void Background::tell(std::function<void()> call)
{
    instance().m_told->push(std::move(call));
    emit instance().told(QPrivateSignal());
}

void Background::wait() { instance().m_work->wait(); }

} // namespace deltascope::desktop
