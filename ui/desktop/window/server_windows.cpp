#include "window/server_windows.h"

#include "bridge/background.h"
#include "look/format.h"
#include "look/look.h"
#include "window/connect_dialog.h"

#include <QMessageBox>

#include <algorithm>

namespace deltascope::desktop {

namespace {

/// Now or as soon as it is known; the others are behind the list of runs.
void showFirstRun(Session& session, MainWindow& window)
{
    const auto known = session.monitor().runs();
    if (!known.empty())
        return window.showRun(QString::fromStdString(known.front()->id));
    QObject::connect(&session.bridge(), &ServiceBridge::runMoved, &window,
                     [&window, first = true](const RunPointer&, const RunPointer& now) mutable {
                         if (std::exchange(first, false))
                             window.showRun(QString::fromStdString(now->id));
                     });
}

void sayRefused(const Error& error, QWidget* parent)
{
    auto* box = new QMessageBox(QMessageBox::Warning, ServerWindows::tr("The bundle cannot be opened"),
                                safeName(error.text), QMessageBox::Ok, parent);
    box->setObjectName(QStringLiteral("refused"));
    box->setInformativeText(safeName(error.where) + QLatin1Char('\n') + safeName(std::string(error.remedyText())));
    box->setAttribute(Qt::WA_DeleteOnClose);
    dress(*box);
    box->open();
}

}

void ServerWindows::ask(QWidget* parent, const QString& address, const QString& secret)
{
    auto* dialog =
        new ConnectDialog([this](std::unique_ptr<app::RemoteServer> server) { open(std::move(server)); }, parent);
    dress(*dialog);
    dialog->open();
    if (address.isEmpty())
        return;
    dialog->setAddress(address);
    if (!secret.isEmpty())
        dialog->setSecret(secret);
    dialog->connectIfSafe();
}

void ServerWindows::openBundle(QWidget* parent, const QString& file)
{
    inBackground(
        this, [path = file.toStdString()] { return app::OpenedBundle::open(path); },
        [this, over = QPointer(parent)](Result<std::unique_ptr<app::OpenedBundle>> bundle) {
            if (bundle)
                show(Session::of(std::move(*bundle)));
            else
                sayRefused(bundle.error(), over);
        });
}

MainWindow& ServerWindows::open(std::unique_ptr<app::RemoteServer> server)
{
    return show(Session::of(std::move(server)));
}

MainWindow& ServerWindows::show(std::unique_ptr<Session> session)
{
    Shown shown;
    shown.session = std::move(session);
    shown.window = std::make_unique<MainWindow>(*shown.session);
    shown.notifier = std::make_unique<Notifier>(shown.session->bridge());
    MainWindow* const window = shown.window.get();
    connect(window, &MainWindow::serverWanted, this, [this, window] { ask(window); });
    connect(window, &MainWindow::bundleWanted, this, [this, window](const QString& file) { openBundle(window, file); });
    connect(
        window, &MainWindow::closed, this, [this, window] { forget(window); }, Qt::QueuedConnection);
    window->followNotes(*shown.notifier);
    showFirstRun(*shown.session, *window);
    m_windows.push_back(std::move(shown));
    window->show();
    return *window;
}

void ServerWindows::forget(const MainWindow* window)
{
    std::erase_if(m_windows, [&](Shown& shown) {
        if (shown.window.get() != window)
            return false;
        shown.notifier.reset();
        shown.window.reset();
        shown.session.reset();
        return true;
    });
}

} // namespace deltascope::desktop
