#include "integration/link.h"

#include <QRegularExpression>
#include <QUrl>

namespace deltascope::desktop {

std::optional<Link> parseLink(const QString& address)
{
    const QString scheme = QStringLiteral("deltascope:");
    if (!address.startsWith(scheme, Qt::CaseInsensitive))
        return std::nullopt;
    QString text = QUrl::fromPercentEncoding(address.mid(scheme.size()).toUtf8());
    if (text.startsWith(QLatin1String("///")))
        text.remove(0, 2);
    static const QRegularExpression version(QStringLiteral("@(?:(\\d{1,9}):)?(\\d{1,18})$"));
    Link link;
    const QRegularExpressionMatch match = version.match(text);
    if (match.hasMatch()) {
        if (match.hasCaptured(1) && !match.captured(1).isEmpty())
            link.epoch = match.captured(1).toInt();
        link.step = match.captured(2).toLongLong();
        text.truncate(match.capturedStart());
    }
    if (text.isEmpty())
        return std::nullopt;
    link.source = text;
    return link;
}

} // namespace deltascope::desktop
