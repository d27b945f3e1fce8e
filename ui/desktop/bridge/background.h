#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <memory>
#include <utility>

namespace deltascope::desktop {

/// Calls `work` off the GUI thread, for what may wait for a disk or a server, then `done` with what it returned on the
/// GUI thread, unless `context` is gone by then. `work` must own all that it reads or read what outlives the session's
/// end.
template <class Work, class Done> void inBackground(QObject* context, Work work, Done done)
{
    QThreadPool::globalInstance()->start(
        [guard = QPointer(context), work = std::move(work), done = std::move(done)]() mutable {
            auto result = std::make_shared<decltype(work())>(work());
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [guard, result, done = std::move(done)]() mutable {
                    if (guard)
                        done(std::move(*result));
                },
                Qt::QueuedConnection);
        });
}

} // namespace deltascope::desktop
