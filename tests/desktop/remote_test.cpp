#include "desktop_fixture.h"
#include "page_text.h"

#include "server/api/api.h"
#include "server/server.h"

#include "acts/materialize_sheet.h"
#include "acts/roll_back_sheet.h"
#include "pages/page.h"
#include "pages/pages.h"
#include "window/connect_dialog.h"
#include "window/server_windows.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>

#include <fmt/format.h>

// The window on a server: what it shows is what the server's own window shows.

namespace deltascope::desktop {
namespace {

constexpr const char* ServerToken = "token-of-the-tests-token";

class RemoteWindow : public DesktopFixture {
protected:
    RemoteWindow() { QSettings().clear(); }
    ~RemoteWindow() override
    {
        windows.reset();
        stop();
    }

    /// A daemon before the engine of the window that shows the run here.
    void serve(bool allowActs = true, std::uint16_t port = 0)
    {
        server::ApiOptions shown;
        shown.allowActs = allowActs;
        api = server::makeApi(session->service(), session->monitor(), hub, shown);
        server::ServerOptions options;
        options.listen = fmt::format("127.0.0.1:{}", port);
        options.allowActs = allowActs;
        options.tokenFile = home.write("tokens", fmt::format("kim act {}\n", ServerToken));
        std::filesystem::permissions(options.tokenFile, std::filesystem::perms(0600));
        auto started = server::Server::start(options, *api, hub);
        ASSERT_TRUE(started) << started.error().text;
        daemon = std::move(*started);
    }
    void stop()
    {
        daemon.reset();
        api.reset();
    }
    /// A bucket of which ages are told in hours.
    void openOld(const std::string& bucket)
    {
        const app::SourceRequest request = golden(bucket);
        const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(50);
        for (const auto& file : std::filesystem::recursive_directory_iterator(request.source.text()))
            std::filesystem::last_write_time(file.path(), before);
        window->openSource(request);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled && run->verified.size() >= 15;
        }));
    }
    MainWindow& connectTo()
    {
        auto server = app::RemoteServer::connect(app::ServerAddress::parse(daemon->url()).value(), ServerToken);
        EXPECT_TRUE(server) << server.error().text;
        MainWindow& shown = windows->open(std::move(*server));
        shown.resize(window->size());
        EXPECT_TRUE(waitFor([&] { return shown.focus().run() && shown.focus().run()->run; }));
        return shown;
    }
    static ConnectDialog* dialog()
    {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (auto* found = qobject_cast<ConnectDialog*>(widget); found && found->isVisible())
                return found;
        }
        return nullptr;
    }
    static QString said(const QWidget& widget)
    {
        QString text;
        for (const QLabel* label : widget.findChildren<QLabel*>())
            text += label->text() + QLatin1Char('\n');
        return text;
    }

    server::EventHub hub;
    std::unique_ptr<server::Api> api;
    std::unique_ptr<server::Server> daemon;
    std::unique_ptr<ServerWindows> windows = std::make_unique<ServerWindows>();
};

TEST_F(RemoteWindow, EveryPageSaysWhatItSaysThere)
{
    openOld("trl-v2-gap");
    serve();
    MainWindow& remote = connectTo();
    EXPECT_TRUE(waitFor([&] { return remote.focus().run()->verified == window->focus().run()->verified; }));
    for (const PageInfo& info : pageInfos()) {
        window->showPage(info.id);
        remote.showPage(info.id);
        ASSERT_TRUE(remote.page()) << info.id.toStdString();
        std::string here;
        std::string there;
        EXPECT_TRUE(waitFor([&] {
            here = textOf(*window->page());
            there = textOf(*remote.page());
            return here == there && here.size() > 100;
        })) << info.id.toStdString()
            << "\n--- here:\n"
            << here << "\n--- there:\n"
            << there;
    }
    EXPECT_TRUE(remote.windowTitle().contains(remote.session().bridge().server()));
    EXPECT_TRUE(said(*remote.statusBar()).contains(QStringLiteral("connected to 127.0.0.1:")));
}

TEST_F(RemoteWindow, TheServerGoesAwayAndComesBack)
{
    openOld("trl-v2-gap");
    serve();
    MainWindow& remote = connectTo();
    remote.showPage(QStringLiteral("live"));
    const std::uint16_t port = daemon->port();
    const auto run = remote.focus().run()->run;
    stop();
    EXPECT_TRUE(waitFor([&] { return said(*remote.statusBar()).contains(QStringLiteral("no contact with")); }));
    EXPECT_EQ(remote.focus().run()->run, run);
    EXPECT_TRUE(waitFor([&] { return said(*remote.page()).contains(QStringLiteral("No contact with 127.0.0.1:")); }));
    serve(true, port);
    EXPECT_TRUE(waitFor([&] { return said(*remote.statusBar()).contains(QStringLiteral("connected to")); }));
    EXPECT_TRUE(waitFor([&] { return !said(*remote.page()).contains(QStringLiteral("No contact with")); }));
}

TEST_F(RemoteWindow, ItsWindowGoesWhenItIsClosed)
{
    openOld("trl-v2-gap");
    serve();
    MainWindow& remote = connectTo();
    EXPECT_EQ(windows->count(), 1U);
    EXPECT_FALSE(remote.actions().action(QStringLiteral("source.open"))->isEnabled());
    EXPECT_FALSE(remote.actions().action(QStringLiteral("source.demo"))->isEnabled());
    remote.close();
    EXPECT_TRUE(waitFor([this] { return windows->count() == 0; }));
    EXPECT_TRUE(window->isVisible());
}

TEST_F(RemoteWindow, WhatIsMaterializedIsSaidToLieThere)
{
    openOld("trl-v2-gap");
    serve(false);
    MainWindow& remote = connectTo();
    remote.actions().trigger(QStringLiteral("run.materialize"));
    auto* sheet = remote.findChild<MaterializeSheet*>();
    ASSERT_TRUE(sheet);
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("Written on the machine of 127.0.0.1:")));
    auto* act = sheet->findChild<QPushButton*>(QStringLiteral("act"));
    ASSERT_TRUE(act);
    ASSERT_TRUE(waitFor([act] { return act->isEnabled(); }));
    act->click();
    EXPECT_TRUE(
        waitFor([&] { return said(*sheet).contains(QStringLiteral("--allow-acts")); })); // the server's own words
    sheet->reject();
}

TEST_F(RemoteWindow, ARollBackIsPlannedThereAndRefusedWithoutTheRight)
{
    openOld("trl-v2-gap");
    serve(false);
    MainWindow& remote = connectTo();
    remote.cursor().setB({ 0, 8 });
    remote.actions().trigger(QStringLiteral("run.rollBack"));
    auto* sheet = remote.findChild<RollBackSheet*>();
    ASSERT_TRUE(sheet);
    QLineEdit* word = nullptr;
    ASSERT_TRUE(waitFor([&] { return (word = sheet->findChild<QLineEdit*>(QStringLiteral("confirm"))) != nullptr; }))
        << said(*sheet).toStdString();
    word->setText(QString::fromStdString(remote.focus().run()->name));
    auto* act = sheet->findChild<QPushButton*>(QStringLiteral("act"));
    ASSERT_TRUE(waitFor([act] { return act->isEnabled(); })) << said(*sheet).toStdString();
    act->click();
    EXPECT_TRUE(waitFor([&] { return said(*sheet).contains(QStringLiteral("--allow-acts")); }));
    EXPECT_FALSE(std::filesystem::exists(home.path("trl-v2-gap/bucket/deltas/step_000016.safetensors")));
    sheet->reject();
}

TEST_F(RemoteWindow, TheDialogConnectsToWhatWasPrinted)
{
    openOld("trl-v2-gap");
    serve();
    windows->ask(window.get());
    ConnectDialog* asks = dialog();
    ASSERT_TRUE(asks);
    asks->setAddress(QString::fromStdString(daemon->signInUrl()));
    const auto* address = asks->findChild<QComboBox*>();
    EXPECT_EQ(address->currentText(), QString::fromStdString(daemon->url())); // the secret is not left to be read
    asks->connectNow();
    EXPECT_TRUE(waitFor([this] { return windows->count() == 1; }));
    EXPECT_EQ(ConnectDialog::knownServers(), QStringList { QString::fromStdString(daemon->url()) });
    const QSettings settings;
    for (const QString& key : settings.allKeys())
        EXPECT_FALSE(settings.value(key).toString().contains(QStringLiteral("#k="))) << key.toStdString();
}

TEST_F(RemoteWindow, TheDialogSaysWhatIsWrong)
{
    openOld("trl-v2-gap");
    serve();
    const std::string url = daemon->url();
    windows->ask(window.get(), QString::fromStdString(url), QStringLiteral("nobody-knows-this-token"));
    ConnectDialog* asks = dialog();
    ASSERT_TRUE(asks);
    EXPECT_TRUE(waitFor([asks] { return said(*asks).contains(QStringLiteral("not known")); }));
    asks->setAddress(QStringLiteral("trainer:7717"));
    EXPECT_TRUE(said(*asks).contains(QStringLiteral("Neither encrypted")));
    stop();
    asks->setAddress(QString::fromStdString(url));
    asks->connectNow();
    EXPECT_TRUE(waitFor([asks] { return said(*asks).contains(QStringLiteral("no contact with the server")); }));
    EXPECT_EQ(windows->count(), 0U);
    EXPECT_TRUE(ConnectDialog::knownServers().isEmpty());
    asks->reject();
}

}
} // namespace deltascope::desktop
