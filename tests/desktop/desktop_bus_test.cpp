#include "desktop_fixture.h"
#include "private_bus.h"

#include "integration/launcher_entry.h"
#include "integration/notifier.h"
#include "integration/suspend_guard.h"

#include <QClipboard>
#include <QGuiApplication>

// What the desktop is told over its message bus: a real bus, and peers that only remember.

namespace deltascope::desktop {
namespace {

class LauncherListener final : public QObject {
    Q_OBJECT

public:
    std::vector<QVariantMap> updates;
    QString application;

public slots:
    void update(const QString& uri, const QVariantMap& properties)
    {
        application = uri;
        updates.push_back(properties);
    }
};

class OnTheBus : public DesktopFixture {
protected:
    app::TaskView start(const app::ActRequest& request)
    {
        const std::string run = window->focus().id().toStdString();
        const app::PlanView plan = madePlan(run, request);
        const Result<app::TaskView> task = session->monitor().start(plan.id, plan.hash, "desktop");
        EXPECT_TRUE(task);
        return *task;
    }
    app::MaterializeArgs materialize(const char* folder) const
    {
        app::MaterializeArgs plan;
        plan.step = "12";
        plan.to = home.path(folder);
        return plan;
    }
    static app::AlertChange alert(const char* id, app::AlertLevel level)
    {
        app::AlertChange change;
        change.notify = true;
        change.alert.id = id;
        change.alert.run = "wordle";
        change.alert.level = level;
        change.alert.step = 12;
        change.alert.title = "Step 12 <is> damaged";
        change.alert.text = "a & b";
        return change;
    }
    static QStringList keysOf(const NotificationServer::Shown& shown)
    {
        QStringList keys;
        for (qsizetype i = 0; i < shown.actions.size(); i += 2)
            keys << shown.actions[i];
        return keys;
    }

    PrivateBus bus;
};

TEST_F(OnTheBus, WhatEndedIsToldWithWhatCanBeDoneAboutIt)
{
    NotificationServer server(bus.member());
    Notifier notifier(session->bridge(), bus.member());
    QSignalSpy opened(&notifier, &Notifier::taskOpened);
    open("trl-v2-gap");
    const app::TaskView task = start(materialize("made"));
    ASSERT_TRUE(waitFor([&] { return server.shown.size() == 1; }));
    const NotificationServer::Shown& shown = server.shown.front();
    EXPECT_TRUE(shown.title.endsWith(QStringLiteral(": done"))) << shown.title.toStdString();
    EXPECT_EQ(shown.text.toStdString(), home.path("made"));
    EXPECT_EQ(shown.replaces, 0U);
    EXPECT_EQ(shown.hints.value(QStringLiteral("urgency")).toInt(), 0);
    EXPECT_EQ(keysOf(shown),
              (QStringList { QStringLiteral("default"), QStringLiteral("open-folder"), QStringLiteral("copy-path"),
                             QStringLiteral("copy-serve"), QStringLiteral("diff") }));
    QTest::qWait(100); // until the answer with its id is there
    emit server.ActionInvoked(shown.id, QStringLiteral("copy-path"));
    EXPECT_TRUE(waitFor([&] { return QGuiApplication::clipboard()->text().toStdString() == home.path("made"); }));
    emit server.ActionInvoked(shown.id, QStringLiteral("copy-serve"));
    const std::string serve = "vllm serve " + home.path("made");
    EXPECT_TRUE(waitFor([&] { return QGuiApplication::clipboard()->text().toStdString() == serve; }));
    QSignalSpy diff(&notifier, &Notifier::diffWanted);
    emit server.ActionInvoked(shown.id, QStringLiteral("diff"));
    EXPECT_TRUE(waitFor([&] { return diff.size() == 1; }));
    EXPECT_EQ(diff.front().at(1).toLongLong(), 12);
    EXPECT_TRUE(opened.isEmpty());
    emit server.ActionInvoked(shown.id, QStringLiteral("default"));
    EXPECT_TRUE(waitFor([&] { return opened.size() == 1; }));
    EXPECT_EQ(opened.front().front().toString().toStdString(), task.id);
}

TEST_F(OnTheBus, WhatCanBeTakenBackOffersThat)
{
    NotificationServer server(bus.member());
    Notifier notifier(session->bridge(), bus.member());
    QSignalSpy undo(&notifier, &Notifier::undoWanted);
    const auto end = [&](const char* id, const char* state, const char* taker) {
        app::TaskView task;
        task.id = id;
        task.startedUs = ServiceBridge::nowUs();
        task.state = state;
        task.plan.run = "wordle";
        task.plan.undo = taker;
        emit session->bridge().taskMoved(task);
    };
    end("t1", "done", "undo");
    end("t2", "failed", "undo");
    end("t3", "done", "");
    ASSERT_TRUE(waitFor([&] { return server.shown.size() == 3; }));
    EXPECT_EQ(keysOf(server.shown[0]), (QStringList { QStringLiteral("default"), QStringLiteral("undo") }));
    EXPECT_EQ(keysOf(server.shown[1]), QStringList(QStringLiteral("default"))) << "nothing was done";
    EXPECT_EQ(keysOf(server.shown[2]), QStringList(QStringLiteral("default"))) << "nothing takes it back";
    QTest::qWait(100); // until the answer with its id is there
    emit server.ActionInvoked(server.shown[0].id, QStringLiteral("undo"));
    EXPECT_TRUE(waitFor([&] { return undo.size() == 1; }));
}

TEST_F(OnTheBus, AFailureIsToldWithItsReason)
{
    NotificationServer server(bus.member());
    const Notifier notifier(session->bridge(), bus.member());
    open("trl-v2-gap");
    std::filesystem::create_directories(home.path("taken"));
    start(materialize("taken"));
    ASSERT_TRUE(waitFor([&] { return !server.shown.empty(); }));
    EXPECT_TRUE(server.shown.front().title.endsWith(QStringLiteral(": failed")));
    EXPECT_FALSE(server.shown.front().text.isEmpty());
    EXPECT_EQ(server.shown.front().hints.value(QStringLiteral("urgency")).toInt(), 1);
    EXPECT_EQ(keysOf(server.shown.front()), QStringList(QStringLiteral("default")));
}

TEST_F(OnTheBus, ANewerMessageTakesThePlaceOfTheOneAboutTheSame)
{
    NotificationServer server(bus.member());
    Notifier notifier(session->bridge(), bus.member());
    QSignalSpy opened(&notifier, &Notifier::alertOpened);
    ServiceBridge& bridge = session->bridge();
    emit bridge.alertMoved(alert("a1", app::AlertLevel::Warn));
    ASSERT_TRUE(waitFor([&] { return server.shown.size() == 1; }));
    QTest::qWait(100);
    emit bridge.alertMoved(alert("a1", app::AlertLevel::Error));
    emit bridge.alertMoved(alert("a2", app::AlertLevel::Info));
    ASSERT_TRUE(waitFor([&] { return server.shown.size() == 3; }));
    EXPECT_EQ(server.shown[1].replaces, server.shown[0].id);
    EXPECT_EQ(server.shown[2].replaces, 0U);
    std::vector<int> urgencies;
    for (const NotificationServer::Shown& shown : server.shown)
        urgencies.push_back(shown.hints.value(QStringLiteral("urgency")).toInt());
    EXPECT_EQ(urgencies, (std::vector<int> { 1, 2, 0 }));
    EXPECT_EQ(server.shown[0].text.toStdString(), "a &amp; b\n") << "the body is markup";
    EXPECT_EQ(keysOf(server.shown[0]), (QStringList { QStringLiteral("default"), QStringLiteral("snooze") }));
    QTest::qWait(100);
    emit server.ActionInvoked(server.shown[2].id, QStringLiteral("default"));
    EXPECT_TRUE(waitFor([&] { return opened.size() == 1; }));
    emit server.NotificationClosed(server.shown[1].id, 2);
    QTest::qWait(100);
    emit bridge.alertMoved(alert("a1", app::AlertLevel::Error));
    ASSERT_TRUE(waitFor([&] { return server.shown.size() == 4; }));
    EXPECT_EQ(server.shown[3].replaces, 0U) << "what the user closed is not replaced";
}

TEST_F(OnTheBus, WhereNobodyShowsItItFallsBack)
{
    Notifier notifier(session->bridge(), bus.member());
    QSignalSpy fellBack(&notifier, &Notifier::fellBack);
    emit session->bridge().alertMoved(alert("a1", app::AlertLevel::Warn));
    EXPECT_TRUE(waitFor([&] { return fellBack.size() == 1; }));
}

TEST_F(OnTheBus, TheMachineStaysAwakeWhileTasksAreAtWork)
{
    SleepManager manager(bus.member());
    TaskTally tally(session->bridge());
    const SuspendGuard guard(tally, bus.member());
    open("trl-v2-gap");
    EXPECT_TRUE(manager.asked.isEmpty());
    const std::string task = start(materialize("made")).id;
    (void)session->monitor().pause(task);
    ASSERT_TRUE(waitFor([&] { return tally.running() == 1 && !manager.asked.isEmpty(); }));
    EXPECT_EQ(manager.asked.section(QLatin1Char('|'), 0, 1), QStringLiteral("sleep:idle|Deltascope"));
    EXPECT_EQ(manager.asked.section(QLatin1Char('|'), 3), QStringLiteral("block"));
    QTest::qWait(200);
    EXPECT_TRUE(manager.isHeld());
    (void)session->monitor().resume(task);
    ASSERT_TRUE(waitFor([&] { return tally.running() == 0; }));
    EXPECT_TRUE(waitFor([&] { return !manager.isHeld(); }));
}

TEST_F(OnTheBus, WithoutALogindTasksRunAllTheSame)
{
    TaskTally tally(session->bridge());
    const SuspendGuard guard(tally, bus.member());
    const SuspendGuard without(tally, QDBusConnection(QStringLiteral("no such bus")));
    open("trl-v2-gap");
    start(materialize("made"));
    EXPECT_TRUE(waitFor([&] { return std::filesystem::exists(home.path("made")) && tally.running() == 0; }));
}

TEST_F(OnTheBus, TheTaskBarShowsTheProgress)
{
    LauncherListener listener;
    QDBusConnection listening = bus.member();
    ASSERT_TRUE(listening.connect(QString(), QString(), QStringLiteral("com.canonical.Unity.LauncherEntry"),
                                  QStringLiteral("Update"), &listener, SLOT(update(QString, QVariantMap))));
    TaskTally tally(session->bridge());
    const LauncherEntry entry(tally, bus.member());
    open("trl-v2-gap");
    const std::string task = start(materialize("made")).id;
    (void)session->monitor().pause(task);
    ASSERT_TRUE(waitFor([&] { return !listener.updates.empty(); }));
    EXPECT_TRUE(listener.updates.back().value(QStringLiteral("progress-visible")).toBool());
    EXPECT_EQ(listener.updates.back().value(QStringLiteral("count")).toInt(), 1);
    (void)session->monitor().resume(task);
    ASSERT_TRUE(waitFor([&] { return !listener.updates.back().value(QStringLiteral("progress-visible")).toBool(); }));
    EXPECT_TRUE(listener.application.startsWith(QStringLiteral("application://")));
}

} // namespace
} // namespace deltascope::desktop

#include "desktop_bus_test.moc"
