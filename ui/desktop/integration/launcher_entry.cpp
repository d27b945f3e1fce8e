#include "integration/launcher_entry.h"

#include <QDBusMessage>
#include <QGuiApplication>

namespace deltascope::desktop {

LauncherEntry::LauncherEntry(TaskTally& tally, QDBusConnection session, QObject* parent)
    : QObject(parent)
    , m_tally(tally)
    , m_session(std::move(session))
{
    connect(&tally, &TaskTally::changed, this, &LauncherEntry::send);
    send();
}

void LauncherEntry::send()
{
    const int running = m_tally.running();
    const int percent = static_cast<int>(100 * m_tally.share());
    if (running == m_running && percent == m_percent)
        return;
    m_running = running;
    m_percent = percent;
    QDBusMessage signal =
        QDBusMessage::createSignal(QStringLiteral("/io/github/deltascope/Deltascope"),
                                   QStringLiteral("com.canonical.Unity.LauncherEntry"), QStringLiteral("Update"));
    const QVariantMap properties { { QStringLiteral("progress"), percent / 100.0 },
                                   { QStringLiteral("progress-visible"), running > 0 },
                                   { QStringLiteral("count"), static_cast<qlonglong>(running) },
                                   { QStringLiteral("count-visible"), running > 1 } };
    signal << QStringLiteral("application://%1.desktop").arg(QGuiApplication::desktopFileName()) << properties;
    m_session.send(signal);
}

} // namespace deltascope::desktop
