#pragma once

#include "deltascope/base/result.h"

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::server {

/// TLS 1.2 and 1.3 with the certificate chain of one PEM file and the key of another. Errors: NotFound, Auth (others
/// can write one of them), Usage (no PEM, an encrypted key, a key of another certificate). Adds a line to `warnings`
/// where others can read the key.
Result<std::shared_ptr<boost::asio::ssl::context>>
makeTls(const std::string& certificateFile, const std::string& keyFile, std::vector<std::string>& warnings);

} // namespace deltascope::server
