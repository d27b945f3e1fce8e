#pragma once

#include <QString>

#include <cstdint>

namespace deltascope::desktop {

// Where checkpoints of a run go, as the user chose it last; kept in the settings.

/// Empty: none was chosen yet.
QString rememberedFolder(const QString& run);
void rememberFolder(const QString& run, const QString& folder);
QString suggestedFolder(const QString& run);
/// "FOLDER/step_000012".
QString destinationIn(const QString& folder, std::int64_t step);

} // namespace deltascope::desktop
