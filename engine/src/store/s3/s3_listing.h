#pragma once

#include "deltascope/engine/object_store.h"
#include "s3_client.h"

namespace deltascope::s3 {

/// One page of a listing by ListObjectsV2 (at most 1,000 keys). Keys that no store has (checkKey), as the markers of
/// folders that end with a slash, are left out. Errors: ListSuspect (out of order, or not what was asked for), Hostile,
/// and those of the client.
Result<ListPage> listBucket(S3Client& client, const ListRequest& request, TaskContext& task);

} // namespace deltascope::s3
