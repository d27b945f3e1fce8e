#pragma once

#include "s3_client.h"

#include <string>
#include <vector>

namespace deltascope::s3 {

/// Errors: NotFound (there was none), Auth, those of the client. S3 does not say whether there was an object, so it is
/// looked for first.
Result<void> removeObject(S3Client& client, std::string_view key, TaskContext& task);

/// With a result for each key, in their order; an object that was not there counts as removed. By DeleteObjects, 1,000
/// keys at once.
std::vector<Result<void>> removeObjects(S3Client& client, const std::vector<std::string>& keys, TaskContext& task);

} // namespace deltascope::s3
