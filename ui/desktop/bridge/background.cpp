#include "bridge/background.h"

#include <QCoreApplication>
#include <QEvent>
#include <QThreadPool>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace deltascope::desktop {

namespace {

class Queue {
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

/// Lives on the GUI thread; each event that it gets stands for one call.
class Told final : public QObject {
public:
    Told() { moveToThread(QCoreApplication::instance()->thread()); }

    void tell(std::function<void()> call)
    {
        m_calls.push(std::move(call));
        QCoreApplication::postEvent(this, new QEvent(QEvent::User));
    }
    bool event(QEvent* event) override
    {
        if (event->type() != QEvent::User)
            return QObject::event(event);
        m_calls.callNext();
        return true;
    }

private:
    Queue m_calls;
};

Queue& work()
{
    static Queue queue;
    return queue;
}

}

void Background::start(std::function<void()> call)
{
    work().push(std::move(call));
    QThreadPool::globalInstance()->start([] { work().callNext(); });
}

void Background::tell(std::function<void()> call)
{
    static Told told;
    told.tell(std::move(call));
}

void Background::wait() { work().wait(); }

} // namespace deltascope::desktop
