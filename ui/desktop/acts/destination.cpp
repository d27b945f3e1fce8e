#include "acts/destination.h"

#include <QDir>
#include <QRegularExpression>
#include <QSettings>

namespace deltascope::desktop {

namespace {

QString keyOf(const QString& run) { return QStringLiteral("destinations/") + run; }

}

QString rememberedFolder(const QString& run) { return QSettings().value(keyOf(run)).toString(); }

void rememberFolder(const QString& run, const QString& folder)
{
    if (folder.isEmpty())
        QSettings().remove(keyOf(run));
    else
        QSettings().setValue(keyOf(run), folder);
}

QString suggestedFolder(const QString& run) { return QDir::homePath() + QStringLiteral("/checkpoints/") + run; }

QString destinationIn(const QString& folder, std::int64_t step)
{
    return QDir(folder).filePath(QStringLiteral("step_%1").arg(step, 6, 10, QLatin1Char('0')));
}

} // namespace deltascope::desktop
