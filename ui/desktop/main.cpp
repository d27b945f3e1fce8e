#include "canvas/canvas_accessible.h"
#include "look/icon.h"
#include "look/look.h"
#include "session/session.h"
#include "window/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QSettings>

#include <cstdio>

using namespace deltascope;
using namespace deltascope::desktop;

namespace {

app::SourceRequest requestOf(const QCommandLineParser& words)
{
    app::SourceRequest request;
    const QString source = words.positionalArguments().value(0);
    request.source = (QFileInfo::exists(source) ? QFileInfo(source).absoluteFilePath() : source).toStdString();
    request.base = words.value(QStringLiteral("base")).toStdString();
    request.layout = words.value(QStringLiteral("layout")).toStdString();
    for (const QString& log : words.values(QStringLiteral("logs")))
        request.logs.push_back(log.toStdString());
    return request;
}

}

int main(int count, char** words)
{
    installCanvasAccessibility();
    QApplication application(count, words);
    QApplication::setOrganizationName(QStringLiteral("deltascope"));
    QApplication::setApplicationName(QStringLiteral("deltascope-desktop"));
    QApplication::setApplicationDisplayName(QStringLiteral("Deltascope"));
    QApplication::setApplicationVersion(QStringLiteral(DELTASCOPE_VERSION));
    QApplication::setWindowIcon(icon(QStringLiteral("logo")));
    if (const QString home = qEnvironmentVariable("DELTASCOPE_HOME"); !home.isEmpty())
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, home + QStringLiteral("/config"));

    QCommandLineParser parser;
    parser.setApplicationDescription(QApplication::translate("main", "Watch, inspect and rebuild published weights."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("source"), QApplication::translate("main", "Folder or address of a run."),
                                 QStringLiteral("[source]"));
    parser.addOptions({
        { QStringLiteral("demo"), QApplication::translate("main", "Start the live demo.") },
        { QStringLiteral("base"), QApplication::translate("main", "Folder of the base checkpoint."), QStringLiteral("folder") },
        { QStringLiteral("layout"), QApplication::translate("main", "Read the source as this layout."), QStringLiteral("word") },
        { QStringLiteral("logs"), QApplication::translate("main", "A log of the run, for pause timings; may be repeated."),
          QStringLiteral("file") },
        { QStringLiteral("page"), QApplication::translate("main", "Page to show first."), QStringLiteral("page") },
    });
    parser.process(application);

    const QSettings settings;
    applyLook(application, static_cast<Appearance>(settings.value(QStringLiteral("look/appearance")).toInt()),
              static_cast<Density>(settings.value(QStringLiteral("look/density")).toInt()));
    Result<std::unique_ptr<Session>> session = Session::create();
    if (!session) {
        std::fprintf(stderr, "deltascope-desktop: %s\n", session.error().text.c_str());
        return 1;
    }
    MainWindow window(**session);
    window.show();
    if (parser.isSet(QStringLiteral("demo")))
        window.openDemo();
    else if (!parser.positionalArguments().isEmpty())
        window.openSource(requestOf(parser));
    if (parser.isSet(QStringLiteral("page")))
        window.showPage(parser.value(QStringLiteral("page")));
    return QApplication::exec();
}
