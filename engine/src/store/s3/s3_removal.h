#pragma once

#include "s3_client.h"

#include "deltascope/engine/object_store.h"

#include <vector>

namespace deltascope::s3 {

/// ObjectStore::remove(). An identity is a condition of the request where the settings say that the server keeps it,
/// else it is compared right before; the rest goes by DeleteObjects, 1,000 keys at once, where an object that was not
/// there counts as removed. A single object is looked for first, since S3 does not say whether there was one.
std::vector<Result<void>> removeObjects(S3Client& client, const std::vector<ObjectRef>& objects, TaskContext& task);

} // namespace deltascope::s3
