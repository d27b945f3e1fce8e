#include "window/main_window.h"

#include "look/format.h"
#include "window/bottom_dock.h"
#include "window/tasks_panel.h"

#include <QApplication>
#include <QCloseEvent>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>
#include <QWindow>

#include <algorithm>

// What becomes of tasks when the window closes.

namespace deltascope::desktop {

namespace {

constexpr int FarewellMs = 1000; ///< for the last notification to go out

}

void MainWindow::closeEvent(QCloseEvent* event)
{
    keepLayout();
    const int running = m_bottom->tasks().runningTasks();
    const bool ask = running > 0 && isVisible() && !m_leaves && !m_session.isRemote(); // a server goes on by itself
    if (ask && !qApp->isSavingSession()) {
        event->ignore();
        return askAboutTasks(running);
    }
    if (ask) // the session ends and waits for no answer
        pauseTasks();
    event->accept();
    emit closed();
}

void MainWindow::askAboutTasks(int running)
{
    auto* box = new QMessageBox(
        QMessageBox::Question, tr("Tasks are running"),
        tr("%1 not finished.").arg(pluralText(static_cast<std::uint64_t>(running), tr("task is"), tr("tasks are"))),
        QMessageBox::NoButton, this);
    box->setObjectName(QStringLiteral("closing"));
    box->setInformativeText(tr("Paused ones are there at the next start: a materialization goes on from what is "
                               "written, others begin again."));
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* stay = box->addButton(tr("Cancel"), QMessageBox::RejectRole);
    QPushButton* quit = box->addButton(tr("&Pause and quit"), QMessageBox::DestructiveRole);
    box->setEscapeButton(stay);
    box->setDefaultButton(quit);
    connect(quit, &QPushButton::clicked, this, &MainWindow::pauseAndQuit);
    if (m_reachable) {
        QPushButton* hide = box->addButton(tr("&Keep running in the background"), QMessageBox::AcceptRole);
        hide->setToolTip(tr("The program ends when they are done. Starting it again shows the window."));
        box->setDefaultButton(hide);
        connect(hide, &QPushButton::clicked, this, &MainWindow::goOnInBackground);
    }
    box->open();
}

void MainWindow::goOnInBackground()
{
    m_inBackground = true;
    QApplication::setQuitOnLastWindowClosed(false);
    for (QDialog* dialog : findChildren<QDialog*>()) {
        if (!dialog->isModal()) // help and tables would stay on the screen
            dialog->close();
    }
    hide();
    connect(&m_bottom->tasks(), &TasksPanel::countChanged, this, &MainWindow::endInBackground, Qt::UniqueConnection);
    endInBackground();
}

void MainWindow::endInBackground()
{
    QTimer::singleShot(FarewellMs, this, [this] {
        if (!m_inBackground || m_bottom->tasks().runningTasks() > 0)
            return;
        QApplication::setQuitOnLastWindowClosed(true);
        const QWindowList windows = QGuiApplication::topLevelWindows();
        if (std::none_of(windows.begin(), windows.end(), [](const QWindow* other) { return other->isVisible(); }))
            QCoreApplication::quit();
    });
}

void MainWindow::comeBack()
{
    m_inBackground = false;
    QApplication::setQuitOnLastWindowClosed(true);
    show();
    raise();
    activateWindow();
}

void MainWindow::pauseTasks()
{
    for (const app::TaskView& task : m_session.monitor().tasks()) {
        if (isAtWork(task))
            (void)m_session.monitor().pause(task.id);
    }
}

void MainWindow::pauseAndQuit()
{
    pauseTasks();
    m_leaves = true;
    close();
}

} // namespace deltascope::desktop
