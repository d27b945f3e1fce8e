#include "canvas/canvas_accessible.h"
#include "integration/launcher_entry.h"
#include "integration/link.h"
#include "integration/notifier.h"
#include "integration/single_instance.h"
#include "integration/suspend_guard.h"
#include "integration/tray.h"
#include "integration/watched_application.h"
#include "look/icon.h"
#include "look/look.h"
#include "session/session.h"
#include "window/main_window.h"
#include "window/server_windows.h"

#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace deltascope;
using namespace deltascope::desktop;

namespace {

QString tr(const char* text) { return QApplication::translate("main", text); }

void addOptions(QCommandLineParser& parser)
{
    parser.setApplicationDescription(tr("Watch, inspect and rebuild published weights."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("source"), tr("Folder or address of a run, or a bundle of one."),
                                 QStringLiteral("[source]"));
    parser.addOptions({
        { QStringLiteral("demo"), tr("Start the live demo.") },
        { QStringLiteral("rate"), tr("Steps per second of the demo."), QStringLiteral("number"), QStringLiteral("1") },
        { QStringLiteral("base"), tr("Folder of the base checkpoint."), QStringLiteral("folder") },
        { QStringLiteral("mirror"), tr("A folder that holds the same objects; may be repeated."),
          QStringLiteral("folder") },
        { QStringLiteral("layout"), tr("Read the source as this layout."), QStringLiteral("word") },
        { QStringLiteral("depth"), tr("How many folders below that of a step weights are looked for."),
          QStringLiteral("number"), QString::number(DefaultSearchDepth) },
        { QStringLiteral("logs"), tr("A log of the run, for pause timings; may be repeated."), QStringLiteral("file") },
        { QStringLiteral("page"), tr("Page to show first."), QStringLiteral("page") },
        { QStringLiteral("connect"),
          tr("Show the runs of a server; a code or token is taken from DELTASCOPE_SERVER_SECRET."),
          QStringLiteral("address") },
        { QStringLiteral("new-window"), tr("Start anew even if the program runs already.") },
    });
}

/// Relative paths as absolute ones: the words may be read by a process that runs elsewhere.
QStringList absoluteWords(QStringList words)
{
    for (qsizetype i = 1; i < words.size(); ++i) {
        if (!words[i].startsWith(QLatin1Char('-')) && QFileInfo::exists(words[i]))
            words[i] = QFileInfo(words[i]).absoluteFilePath();
    }
    return words;
}

QString bundleIn(const QCommandLineParser& words)
{
    return Session::bundleFile(words.positionalArguments().value(0).toStdString());
}

void follow(MainWindow& window, const QCommandLineParser& words)
{
    const QString source = words.positionalArguments().value(0);
    if (words.isSet(QStringLiteral("demo"))) {
        window.openDemo(words.value(QStringLiteral("rate")).toDouble());
    } else if (const std::optional<Link> link = parseLink(source)) {
        window.openLink(*link);
    } else if (!source.isEmpty()) {
        app::SourceRequest request;
        request.source = source.toStdString();
        request.base = words.value(QStringLiteral("base")).toStdString();
        request.layout = words.value(QStringLiteral("layout")).toStdString();
        request.searchDepth =
            std::clamp<std::size_t>(words.value(QStringLiteral("depth")).toUInt(), 1, MostSearchDepth);
        for (const QString& mirror : words.values(QStringLiteral("mirror")))
            request.mirrors.push_back(mirror.toStdString());
        for (const QString& log : words.values(QStringLiteral("logs")))
            request.logs.push_back(log.toStdString());
        window.openSource(request);
    }
    if (words.isSet(QStringLiteral("page")))
        window.showPage(words.value(QStringLiteral("page")));
}

/// Whether the program is to say something and end, for which it needs no display.
bool asksForText(int count, char** arguments)
{
    return std::any_of(arguments + 1, arguments + count, [](std::string_view word) {
        return word == "--help" || word == "-h" || word == "--help-all" || word == "--version" || word == "-v";
    });
}

QStringList& startMessages()
{
    static QStringList messages;
    return messages;
}

/// Qt ends the program by abort() where it cannot open a display; the first message says why.
void keepStartMessage(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    startMessages().push_back(text.trimmed());
    if (type != QtFatalMsg)
        return;
    std::fprintf(stderr,
                 "deltascope-desktop: no window can be shown (%s); \"deltascope serve SOURCE\" shows the same in a "
                 "browser\n",
                 qUtf8Printable(startMessages().front()));
    std::_Exit(1);
}

void tellStartMessages()
{
    for (const QString& message : startMessages())
        std::fprintf(stderr, "%s\n", qUtf8Printable(message));
}

#ifdef QT_NO_DEBUG
constexpr const char* StallLimitMs = "0"; // nobody looks
#else
constexpr const char* StallLimitMs = "8";
#endif

/// Stalls of the GUI thread are errors of ours: said in debug builds, and where somebody wants to know.
void watchForStalls(WatchedApplication& application)
{
    const double limit = qEnvironmentVariable("DELTASCOPE_STALL_MS", QString::fromLatin1(StallLimitMs)).toDouble();
    if (limit <= 0)
        return;
    application.watch(limit);
    QObject::connect(&application, &WatchedApplication::stalled, [](const Stall& stall) {
        std::fprintf(stderr, "the window stood still for %.1f ms (%.1f ms of work), of these %.1f ms for %s of %s\n",
                     stall.ms, stall.workMs, stall.ownMs, stall.event.constData(), stall.receiver.constData());
    });
}

}

int main(int count, char** arguments)
{
    QCoreApplication::setOrganizationName(QStringLiteral("deltascope"));
    QCoreApplication::setApplicationName(QStringLiteral("deltascope-desktop"));
    QCoreApplication::setApplicationVersion(QStringLiteral(DELTASCOPE_VERSION));
    if (asksForText(count, arguments)) {
        const QCoreApplication application(count, arguments);
        QCommandLineParser parser;
        addOptions(parser);
        parser.process(application); // ends the program
    }
    installCanvasAccessibility();
    qInstallMessageHandler(keepStartMessage);
    WatchedApplication application(count, arguments);
    qInstallMessageHandler(nullptr);
    tellStartMessages();
    QApplication::setApplicationDisplayName(QStringLiteral("Deltascope"));
    QApplication::setDesktopFileName(QStringLiteral("io.github.deltascope.Deltascope"));
    QApplication::setWindowIcon(icon(QStringLiteral("logo")));
    if (const QString home = qEnvironmentVariable("DELTASCOPE_HOME"); !home.isEmpty())
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, home + QStringLiteral("/config"));

    const QStringList words = absoluteWords(QApplication::arguments());
    QCommandLineParser parser;
    addOptions(parser);
    parser.process(words);
    const QString secret = qEnvironmentVariable("DELTASCOPE_SERVER_SECRET");
    qunsetenv("DELTASCOPE_SERVER_SECRET"); // no business of programs that are started from here
    SingleInstance instance;
    if (!parser.isSet(QStringLiteral("new-window")) && secret.isEmpty() && instance.handOver(words))
        return 0;

    const QSettings settings;
    applyLook(application, static_cast<Appearance>(settings.value(QStringLiteral("look/appearance")).toInt()),
              static_cast<Density>(settings.value(QStringLiteral("look/density")).toInt()));
    Result<std::unique_ptr<Session>> session = Session::create();
    if (!session) {
        std::fprintf(stderr, "deltascope-desktop: %s\n", session.error().text.c_str());
        return 1;
    }
    MainWindow window(**session);
    ServerWindows servers;
    QObject::connect(&window, &MainWindow::serverWanted, &servers, [&] { servers.ask(&window); });
    QObject::connect(&window, &MainWindow::bundleWanted, &servers,
                     [&](const QString& file) { servers.openBundle(&window, file); });
    const QString server = parser.value(QStringLiteral("connect"));
    const QString bundle = bundleIn(parser);
    if (!server.isEmpty()) {
        servers.ask(nullptr, server, secret);
    } else if (!bundle.isEmpty()) {
        servers.openBundle(nullptr, bundle);
    } else {
        window.show();
        follow(window, parser);
    }
    QObject::connect(&instance, &SingleInstance::called, &window, [&window, &servers](const QStringList& called) {
        QCommandLineParser again;
        addOptions(again);
        const bool understood = again.parse(called);
        if (understood && again.isSet(QStringLiteral("connect")))
            return servers.ask(nullptr, again.value(QStringLiteral("connect")));
        if (understood && !bundleIn(again).isEmpty())
            return servers.openBundle(nullptr, bundleIn(again));
        if (understood)
            follow(window, again);
        window.comeBack();
    });
    TaskTally tally((*session)->bridge());
    const SuspendGuard guard(tally);
    const LauncherEntry entry(tally);
    Tray tray(tally);
    QObject::connect(&tray, &Tray::windowWanted, &window, &MainWindow::comeBack);
    QObject::connect(&tray, &Tray::tasksWanted, &window, &MainWindow::showTasks);
    QObject::connect(&tray, &Tray::quitWanted, &window, [&window] {
        window.comeBack();
        window.close();
    });
    const bool listens = instance.listen();
    const auto refreshTray = [&] { window.setReachable(tray.refresh() || listens); };
    QObject::connect(&window, &MainWindow::trayChosen, &window, refreshTray);
    refreshTray();
    Notifier notifier((*session)->bridge());
    window.followNotes(notifier);
    watchForStalls(application);
    return QApplication::exec();
}
