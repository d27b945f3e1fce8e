#pragma once

#include "deltascope/base/result.h"
#include "replies.h"

#include <string>

namespace deltascope::s3 {

/// What is known around an answer that is not good.
struct ErrorContext {
    std::string action; ///< "s3:GetObject"
    std::string where; ///< key of the store
    std::string bucket;
    std::string host;
    std::string usedRegion;
    std::string wantedRegion; ///< that the server names; may be empty
    std::string keyTail; ///< the end of the key id
    bool isAnonymous = false;
};

/// Codes: NotFound, Auth, Exists (a condition was not met), NoSpace, Digest, Usage, Unsupported, Transient, Io. Source
/// of the server's words: Amazon S3 API reference, "List of error codes"; MinIO's and Ceph's own where they differ.
Error errorOfReply(int status, const ErrorReply& said, const ErrorContext& context);

} // namespace deltascope::s3
