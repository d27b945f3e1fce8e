#include "window/main_window.h"

#include "integration/notifier.h"
#include "integration/tray.h"
#include "look/format.h"
#include "window/bottom_dock.h"

#include <QApplication>

#include <algorithm>

// What the desktop brings: addresses of other programs, the tray, and what is chosen in notifications.

namespace deltascope::desktop {

void MainWindow::addDesktopActions()
{
    m_actions->add({ .id = QStringLiteral("view.tray"),
                     .text = tr("Icon in the tray"),
                     .menu = tr("View"),
                     .act =
                         [this] {
                             Tray::setWanted(!Tray::isWanted());
                             emit trayChosen();
                         },
                     .checkable = true,
                     .checked = [] { return Tray::isWanted(); } });
}

void MainWindow::followNotes(Notifier& notifier)
{
    connect(&notifier, &Notifier::fellBack, this, [this] { QApplication::alert(this); });
    connect(&notifier, &Notifier::taskOpened, this, &MainWindow::showTasks);
    connect(&notifier, &Notifier::alertOpened, this, &MainWindow::showStep);
    connect(&notifier, &Notifier::undoWanted, this, [this](const QString& run) {
        comeBack();
        undoRollBack(run);
    });
    connect(&notifier, &Notifier::diffWanted, this, [this](const QString& run, std::int64_t step) {
        showStep(run, step);
        showPage(QStringLiteral("diff"));
    });
}

void MainWindow::showTasks()
{
    comeBack();
    m_bottom->showTasks();
}

void MainWindow::showStep(const QString& run, std::int64_t step)
{
    comeBack();
    if (run != m_focus->id())
        showRun(run);
    if (step >= 0 && m_focus->epoch())
        m_cursor->setB({ m_focus->epoch()->epoch, step });
}

/// What the user never opened is asked for first: any program can send an address.
void MainWindow::openLink(const Link& link)
{
    m_link = link;
    const std::vector<Session::Recent> recents = m_session.recents();
    const auto known = std::find_if(recents.begin(), recents.end(),
                                    [&](const Session::Recent& recent) { return recent.source == link.source; });
    for (const RunPointer& run : m_session.monitor().runs()) {
        const std::optional<app::SourceRequest> source = m_session.monitor().sourceOf(run->id);
        if (source && source->source == link.source.toStdString()) {
            showRun(QString::fromStdString(run->id));
            return goToLink();
        }
    }
    if (known == recents.end())
        return askForSource(link.source);
    app::SourceRequest request;
    request.source = known->source.toStdString();
    request.base = known->base.toStdString();
    openSource(request);
}

/// Goes to the step of the address, once its run is open.
void MainWindow::goToLink()
{
    const RunPointer& run = m_focus->run();
    const std::optional<app::SourceRequest> source =
        m_link && run ? m_session.monitor().sourceOf(run->id) : std::nullopt;
    if (!source || !run->run || source->source != m_link->source.toStdString())
        return;
    const Link link = *std::exchange(m_link, std::nullopt);
    if (!link.step)
        return;
    for (auto epoch = run->run->epochs.rbegin(); epoch != run->run->epochs.rend(); ++epoch) {
        const StepId step { epoch->epoch, *link.step };
        if (link.epoch.value_or(step.epoch) == step.epoch && m_focus->step(step))
            return m_cursor->setB(step);
    }
    say(tr("Step %1 is not in this run").arg(*link.step));
}

} // namespace deltascope::desktop
