#pragma once

#include "deltascope/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::s3 {

// What the server says in XML. Source of all names: Amazon S3 API reference.

/// One <Contents> of a listing.
struct ListedObject {
    std::string key; ///< decoded
    std::uint64_t sizeBytes = 0;
    std::string etag; ///< without quotes
    std::int64_t modifiedUs = 0; ///< whole seconds, as other answers have it
};

struct ListReply {
    std::vector<ListedObject> objects;
    bool isTruncated = false;
};

/// ListBucketResult of ListObjectsV2, asked for with encoding-type=url. Errors: Hostile (not one; an entry lacks what
/// it must have, or a size or time is no such).
Result<ListReply> parseListing(std::string_view xml);

/// <Error>.
struct ErrorReply {
    std::string code; ///< empty: the body says nothing
    std::string message;
    std::string region; ///< that the server wants, of a form that regions have; else empty
};
ErrorReply parseErrorReply(std::string_view body);
/// Whether a body of a good answer is nevertheless an <Error>.
bool isErrorBody(std::string_view body);

/// Errors of both: Hostile.
Result<std::string> parseUploadId(std::string_view xml); ///< InitiateMultipartUploadResult
Result<std::string> parseCopyEtag(std::string_view xml); ///< CopyObjectResult; without quotes

/// One key of a DeleteObjects that was not deleted.
struct DeleteFailure {
    std::string key;
    ErrorReply error;
};
/// DeleteResult in quiet mode: failures alone. Errors: Hostile.
Result<std::vector<DeleteFailure>> parseDeleteReply(std::string_view xml);

/// Without its quotes; a weak one keeps its "W/". Empty where it is none.
std::string etagOf(std::string_view header);

/// "Sun, 06 Nov 1994 08:49:37 GMT", in UTC.
std::optional<std::chrono::system_clock::time_point> parseHttpDate(std::string_view text);
/// "2024-05-17T08:11:02.000Z" or without a fraction, in UTC; the fraction is dropped.
std::optional<std::chrono::system_clock::time_point> parseIsoTime(std::string_view text);

/// Letters, digits and '-', at most 40.
bool isRegion(std::string_view text) noexcept;

} // namespace deltascope::s3
