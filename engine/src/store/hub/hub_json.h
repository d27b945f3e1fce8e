#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the Hub says, read without trust: unknown members are ignored, known ones must have their type, and nothing is
// deeper than any reply needs. All errors are Code::Hostile.

namespace deltascope::hub {

/// A file in a listing of a bucket or a repository (huggingface_hub 2.4.0: _buckets.py, BucketFile; hf_api.py,
/// RepoFile).
struct HubFile {
    std::string path;
    std::uint64_t sizeBytes = 0;
    std::string xetHash; ///< 64 lower-case hexadecimal digits; empty: the hub names none
    std::string gitId; ///< "oid" of a repository's file: the hash of its git blob; empty in buckets
    std::string lfsSha256; ///< of what a pointer in git stands for; empty: the bytes are in git themselves
    std::string uploadedAt; ///< ISO 8601; empty: not told
    std::string modifiedAt; ///< "mtime", which the writer chose; likewise

    bool operator==(const HubFile&) const = default;
};

/// The files of one page of `tree`, or the answer of `paths-info`; folders are left out.
Result<std::vector<HubFile>> parseHubFiles(std::string_view text);

/// Microseconds since 1970 of "2026-08-21T12:34:56.789Z" (or with +00:00); nothing if it is no such time.
std::optional<std::int64_t> isoTimeUs(std::string_view text) noexcept;

/// GET /api/buckets/{id}.
struct BucketInfo {
    std::string updatedAt; ///< as it stands there; moves with every change
};
Result<BucketInfo> parseBucketInfo(std::string_view text);

/// GET …/xet-read-token and …/xet-write-token.
struct XetTokenReply {
    std::string accessToken;
    std::int64_t expiresAtSeconds = 0; ///< since 1970
    std::string casUrl;
};
Result<XetTokenReply> parseXetToken(std::string_view text);

/// POST /api/buckets/{id}/batch.
struct BatchReply {
    struct Failure {
        std::string path;
        std::string error;
    };
    std::optional<bool> success;
    std::optional<std::uint64_t> processed, succeeded;
    std::vector<Failure> failed;
};
Result<BatchReply> parseBatchReply(std::string_view text);

/// GET /api/models/{id}/revision/{revision} (hf_api.py, model_info).
struct RevisionInfo {
    std::string commit; ///< 40 hexadecimal digits
    std::string modifiedAt; ///< ISO 8601; empty: not told
};
Result<RevisionInfo> parseRevisionInfo(std::string_view text);

/// "error", "error_description" or "errors" of the answer to a request that failed; empty if it holds none.
std::string parseErrorText(std::string_view text);

/// Exactly `digits` hexadecimal digits in lower case.
bool isHexText(std::string_view text, std::size_t digits) noexcept;

/// JSON of a bounded depth; a discarded value where it is none.
nlohmann::json parseHubJson(std::string_view text);
/// The text of a member, nothing where it is absent or null. `isWrong` becomes true where it is something else.
std::optional<std::string> optionalText(const nlohmann::json& object, const char* key, bool& isWrong);

} // namespace deltascope::hub
