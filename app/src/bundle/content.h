#pragma once

#include "recording.h"

#include <string>

namespace deltascope::bundle {

// The files of a bundle, made from what was recorded. Pure.

std::string manifestOf(const Recording& recording, std::int64_t createdUs);
std::string linesOf(const nlohmann::ordered_json& list); ///< one document per line
std::string spansOf(const Recording& recording); ///< lines
std::string tensorsOf(const Recording& recording); ///< one table per epoch
/// The page with the recording in it.
std::string pageOf(const Recording& recording, std::int64_t createdUs);

} // namespace deltascope::bundle
