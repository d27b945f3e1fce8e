#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <string>

namespace deltascope::app {

/// Errors: those of openState() and digestState(); ChainGap and its kind (unless `acrossGap`: no-ops on the way say
/// that a delta is lost).
Result<DigestView> digestOf(Workbench& bench, const VersionRequest& request, bool acrossGap, TensorHashes hashes,
                            TaskContext& task);
/// `path`: of the document. Errors: as digestOf(), and those of readDigestDocument().
Result<DigestCheckView> checkDigestsOf(Workbench& bench, const VersionRequest& request, const std::string& path,
                                       bool acrossGap, TaskContext& task);

} // namespace deltascope::app
