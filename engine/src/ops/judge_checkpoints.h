#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Judges the values of versions that stand alone beside those of the one before, and fills in facts of those that have
/// none; nothing for other layouts. What cannot be read stays as it is. `keys`: as chainKeys(). Errors: Canceled, those
/// of the store that are worth a retry.
Result<void> judgeCheckpoints(Workbench& bench, Run& run, const AnalyzeOptions& options,
                              const std::vector<std::string>& keys, TaskContext& task);

/// Whether a version is a complete state that can be read.
bool isCheckpoint(const Version& version);

/// The bytes of its state as if elements had two each: headers that were read earlier tell their number alone. Of
/// isCheckpoint().
std::uint64_t aboutBytesOf(const Version& version);

/// The checkpoint that a version that stands alone is judged beside, by index; nothing: it is judged by itself, or not.
std::optional<std::size_t> judgedBeside(const Run& run, std::size_t at);

} // namespace deltascope
