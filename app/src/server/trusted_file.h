#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <vector>

namespace deltascope::server {

/// Reads a file that decides who may do what, so that nobody but its owner may be able to write it, and its owner has
/// to be us or root. Follows links. `what`: for errors. Errors: NotFound, Auth (others can write it), Usage (not a
/// regular file of at most 1 MB), Io.
Result<std::string> readTrustedFile(const std::string& path, const std::string& what);

/// The same for a file that holds secrets: adds a line to `warnings` where others can read it.
Result<std::string> readSecretFile(const std::string& path, const std::string& what,
                                   std::vector<std::string>& warnings);

} // namespace deltascope::server
