#pragma once

#include "deltascope/app/alert_sender.h"

#include <QString>

namespace deltascope::desktop {

// Where alerts go besides this window: a file of the user, as `deltascope serve --alert-channels` reads it, and
// the notifications of the desktop. GUI thread.

QString channelFile();
/// What the file holds; nothing where there is none. Errors: NotFound (it is gone meanwhile), Io, Usage.
Result<std::vector<app::AlertChannel>> savedChannels();
/// Writes the file, and tells these from now on. Errors: Io.
Result<void> saveChannels(std::vector<app::AlertChannel> channels, app::AlertSender& sender);

/// The lowest level that is shown as a notification of the desktop; nothing: none is.
std::optional<app::AlertLevel> desktopLevel();
void setDesktopLevel(std::optional<app::AlertLevel> level); ///< kept in the settings

} // namespace deltascope::desktop
