#include "session/alert_channels.h"

#include <QFile>
#include <QSettings>
#include <QStandardPaths>

namespace deltascope::desktop {

namespace {

const QString LevelKey = QStringLiteral("alerts/desktop");
constexpr int NoLevel = -1;

}

QString channelFile()
{
    const QString home = qEnvironmentVariable("DELTASCOPE_HOME");
    const QString folder = home.isEmpty()
        ? QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/deltascope")
        : home + QStringLiteral("/config/deltascope");
    return folder + QStringLiteral("/alert-channels");
}

Result<std::vector<app::AlertChannel>> savedChannels()
{
    if (!QFile::exists(channelFile()))
        return std::vector<app::AlertChannel>();
    return app::readChannels(channelFile().toStdString());
}

Result<void> saveChannels(std::vector<app::AlertChannel> channels, app::AlertSender& sender)
{
    DS_CHECK(app::writeChannels(channelFile().toStdString(), channels));
    sender.setChannels(std::move(channels), {});
    return {};
}

std::optional<app::AlertLevel> desktopLevel()
{
    const int level = QSettings().value(LevelKey, static_cast<int>(app::AlertLevel::Info)).toInt();
    return level == NoLevel ? std::nullopt : std::optional(static_cast<app::AlertLevel>(level));
}

void setDesktopLevel(std::optional<app::AlertLevel> level)
{
    QSettings().setValue(LevelKey, level ? static_cast<int>(*level) : NoLevel);
}

} // namespace deltascope::desktop
