#include "pages/bucket/object_address.h"

#include "deltascope/app/command_line.h"

#include <QUrl>

namespace deltascope::desktop {

QString shellWord(const QString& word) { return QString::fromStdString(app::quoted(word.toStdString())); }

std::optional<ObjectAddress> objectAddress(const std::string& source, const std::string& key)
{
    const QString name = QString::fromStdString(key);
    if (name.toStdString() != key)
        return std::nullopt;
    QString root = QString::fromStdString(source);
    while (root.endsWith(QLatin1Char('/')))
        root.chop(1);
    ObjectAddress address;
    if (root.startsWith(QLatin1String("file://"))) {
        const QString path = QUrl(root).toLocalFile() + QLatin1Char('/') + name;
        address.path = path;
        address.uri = QString::fromLatin1(QUrl::fromLocalFile(path).toEncoded());
        return address;
    }
    address.uri = root + QLatin1Char('/') + name;
    if (root.startsWith(QLatin1String("s3://")))
        address.aws = QStringLiteral("aws s3 cp %1 .").arg(shellWord(address.uri));
    if (root.startsWith(QLatin1String("hf://buckets/")))
        address.hf = QStringLiteral("hf buckets cp %1 .").arg(shellWord(address.uri));
    return address;
}

} // namespace deltascope::desktop
