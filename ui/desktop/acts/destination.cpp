#include "acts/destination.h"

#include <QDir>
#include <QRegularExpression>
#include <QSettings>

namespace deltascope::desktop {

namespace {

/// Slashes would make groups.
QString keyOf(const std::string& source)
{
    const QByteArray name = QByteArray::fromStdString(source).toPercentEncoding();
    return QStringLiteral("destinations/") + QString::fromLatin1(name);
}

}

QString rememberedFolder(const std::string& source) { return QSettings().value(keyOf(source)).toString(); }

void rememberFolder(const std::string& source, const QString& folder)
{
    if (folder.isEmpty())
        QSettings().remove(keyOf(source));
    else
        QSettings().setValue(keyOf(source), folder);
}

QString suggestedFolder(const QString& run) { return QDir::homePath() + QStringLiteral("/checkpoints/") + run; }

QString destinationIn(const QString& folder, std::int64_t step)
{
    return QDir(folder).filePath(QStringLiteral("step_%1").arg(step, 6, 10, QLatin1Char('0')));
}

} // namespace deltascope::desktop
