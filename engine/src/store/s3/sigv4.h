#pragma once

#include "deltascope/base/result.h"
#include "deltascope/engine/http.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope::s3 {

/// Whose request it is.
struct Credentials {
    std::string keyId;
    std::string secret;
    std::string sessionToken; ///< empty: keys that last
};

/// Names and values, not encoded.
using Query = std::vector<std::pair<std::string, std::string>>;

/// "a=b&c=", encoded, in the order that a signature wants.
std::string queryText(const Query& query);

/// SHA-256 of nothing.
inline constexpr std::string_view EmptyPayloadHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
inline constexpr std::string_view UnsignedPayload = "UNSIGNED-PAYLOAD";

/// What is signed: everything of the request but what libcurl adds.
struct SignedParts {
    std::string method;
    std::string host; ///< as the Host header has it
    std::string path; ///< encoded once, with the path of the endpoint; begins with '/'
    Query query;
    http::Headers headers; ///< all of them are signed
    std::string payloadHash; ///< SHA-256 in hexadecimal, or UnsignedPayload
};

struct SigningScope {
    std::string region;
    std::string service = "s3"; ///< for "s3" the path is signed as it is and x-amz-content-sha256 is sent
    std::chrono::system_clock::time_point time;
};

/// The headers of a request of Signature Version 4 (AWS General Reference, "Signature Version 4 signing process"):
/// those of `parts`, x-amz-date, x-amz-content-sha256, x-amz-security-token and Authorization. Errors: Internal
/// (OpenSSL lacks HMAC-SHA256).
Result<http::Headers> signRequest(const SignedParts& parts, const SigningScope& scope, const Credentials& credentials);

/// "20150830T123600Z".
std::string amazonTime(std::chrono::system_clock::time_point time);

/// Lower-case hexadecimal.
std::string sha256Hex(std::string_view text);

} // namespace deltascope::s3
