#pragma once

#include "deltascope/base/result.h"

#include <string>

namespace deltascope {

/// The folder that is meant by a path: of a model in the cache of the Hugging Face Hub ("models--ORG--NAME" with blobs,
/// refs and snapshots) the snapshot that refs/main names, else the only one; any other path itself. Errors: Layout (it
/// holds several snapshots, or none, and refs/main does not tell which).
Result<std::string> folderMeantBy(const std::string& path);

} // namespace deltascope
