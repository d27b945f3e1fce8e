#pragma once

#include <QString>

#include <cstdint>
#include <string>

namespace deltascope::desktop {

// Where checkpoints of a run go, as the user chose it last; kept in the settings by the canonical address of the whole
// source, since folders of several runs may be called the same.

/// Empty: none was chosen yet.
QString rememberedFolder(const std::string& source);
void rememberFolder(const std::string& source, const QString& folder);
QString suggestedFolder(const QString& run);
/// "FOLDER/step_000012".
QString destinationIn(const QString& folder, std::int64_t step);

} // namespace deltascope::desktop
