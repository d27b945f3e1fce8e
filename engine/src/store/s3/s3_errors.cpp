#include "s3_errors.h"

#include "deltascope/engine/http.h"
#include "encoding.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

/// What one word of the server means. In texts, {bucket} and the like are filled in.
struct Meaning {
    std::string_view word;
    Code code;
    std::string_view text;
    std::string_view action;
};

constexpr std::string_view ClockAction = "Set the clock of this machine.";
constexpr std::string_view KeyAction = "See that AWS_ACCESS_KEY_ID or the profile is the one for this server.";
constexpr std::string_view SecretAction =
    "See that the secret key belongs to the key id, and that the endpoint is right.";
constexpr std::string_view TokenAction = "Sign on again (`aws sso login`), or set fresh temporary keys.";
constexpr std::string_view RegionAction = "Set AWS_REGION to the region of the bucket.";
constexpr std::string_view LaterAction = "Try again in a while, with fewer requests at once.";
constexpr std::string_view AgainAction =
    "Repeat it; if it happens again, look for a proxy or memory that changes bytes.";
constexpr std::string_view SpaceAction = "Free space on the server, or have the quota raised.";

constexpr std::array Meanings {
    Meaning { "NoSuchBucket", Code::NotFound, "there is no bucket \"{bucket}\" on {host}",
              "See that name, endpoint and region of the bucket are right." },
    Meaning { "NoSuchKey", Code::NotFound, "there is no such object", "" },
    Meaning { "NotFound", Code::NotFound, "there is no such object", "" },
    Meaning { "NoSuchVersion", Code::NotFound, "there is no such version of the object any more", "" },
    Meaning { "NoSuchUpload", Code::Transient, "the server does not know the upload any more",
              "Write the object again." },
    Meaning { "InvalidAccessKeyId", Code::Auth, "{host} does not know the access key {key}", KeyAction },
    Meaning { "InvalidClientTokenId", Code::Auth, "{host} does not know the access key {key}", KeyAction },
    Meaning { "SignatureDoesNotMatch", Code::Auth,
              "the signature is wrong: the secret key is not that of access key {key}", SecretAction },
    Meaning { "ExpiredToken", Code::Auth, "the temporary keys have expired", TokenAction },
    Meaning { "ExpiredTokenException", Code::Auth, "the temporary keys have expired", TokenAction },
    Meaning { "TokenRefreshRequired", Code::Auth, "the temporary keys must be renewed", TokenAction },
    Meaning { "InvalidToken", Code::Auth, "{host} does not accept the session token", TokenAction },
    Meaning { "RequestTimeTooSkewed", Code::Auth,
              "the clocks of this machine and of {host} differ by more than 15 minutes", ClockAction },
    Meaning { "RequestExpired", Code::Auth, "{host} takes the request for an old one", ClockAction },
    Meaning { "InvalidObjectState", Code::Unsupported,
              "the object is in an archive and must be restored before it can be read",
              "Restore it with `aws s3api restore-object`." },
    Meaning { "SlowDown", Code::Transient, "{host} wants fewer requests", LaterAction },
    Meaning { "SlowDownRead", Code::Transient, "{host} wants fewer requests", LaterAction },
    Meaning { "SlowDownWrite", Code::Transient, "{host} wants fewer requests", LaterAction },
    Meaning { "ServiceUnavailable", Code::Transient, "{host} cannot serve the request now", LaterAction },
    Meaning { "TooManyRequests", Code::Transient, "{host} wants fewer requests", LaterAction },
    Meaning { "InternalError", Code::Transient, "{host} failed", LaterAction },
    Meaning { "RequestTimeout", Code::Transient, "{host} waited too long for the bytes of the request", LaterAction },
    Meaning { "OperationAborted", Code::Transient, "another operation on the object is under way", LaterAction },
    Meaning { "ConditionalRequestConflict", Code::Transient, "another writer is putting the same object", LaterAction },
    Meaning { "PreconditionFailed", Code::Exists, "there is an object of this name already", "" },
    Meaning { "BadDigest", Code::Digest, "the bytes were changed on their way to {host}", AgainAction },
    Meaning { "InvalidDigest", Code::Digest, "the bytes were changed on their way to {host}", AgainAction },
    Meaning { "XAmzContentSHA256Mismatch", Code::Digest, "the bytes were changed on their way to {host}", AgainAction },
    Meaning { "XAmzContentChecksumMismatch", Code::Digest, "the bytes were changed on their way to {host}",
              AgainAction },
    Meaning { "QuotaExceeded", Code::NoSpace, "the quota on {host} is full", SpaceAction },
    Meaning { "QuotaExceededException", Code::NoSpace, "the quota on {host} is full", SpaceAction },
    Meaning { "XMinioAdminBucketQuotaExceeded", Code::NoSpace, "the quota of the bucket is full", SpaceAction },
    Meaning { "XMinioStorageFull", Code::NoSpace, "the disk of {host} is full", SpaceAction },
    Meaning { "InsufficientCapacity", Code::NoSpace, "{host} has no room for the object", SpaceAction },
    Meaning { "EntityTooLarge", Code::Unsupported, "the object is larger than {host} takes", "" },
    Meaning { "EntityTooSmall", Code::Unsupported, "{host} wants larger parts of an object", "" },
    Meaning { "NotImplemented", Code::Unsupported, "{host} does not offer {action} as it was asked for",
              "See docs/stores/s3.md for what is needed of a server." },
    Meaning { "MethodNotAllowed", Code::Unsupported, "{host} does not offer {action} here",
              "See that the endpoint is that of an S3 server." },
    Meaning { "InvalidBucketName", Code::Usage, "{host} takes \"{bucket}\" for no name of a bucket",
              "Write s3://BUCKET/PREFIX." },
    Meaning { "KeyTooLongError", Code::Usage, "the key is longer than {host} takes", "" },
    Meaning { "KeyTooLong", Code::Usage, "the key is longer than {host} takes", "" },
};

constexpr std::array<std::string_view, 6> RegionWords { "PermanentRedirect",
                                                        "TemporaryRedirect",
                                                        "Redirect",
                                                        "AuthorizationHeaderMalformed",
                                                        "IllegalLocationConstraintException",
                                                        "InvalidRegionName" };

std::string filled(std::string_view text, const ErrorContext& context)
{
    const std::array<std::pair<std::string_view, std::string>, 4> values {
        { { "{bucket}", context.bucket },
          { "{host}", context.host },
          { "{action}", context.action },
          { "{key}", context.keyTail.empty() ? "that was used" : "…" + context.keyTail } }
    };
    std::string out(text);
    for (const auto& [name, value] : values) {
        if (const std::size_t at = out.find(name); at != std::string::npos)
            out.replace(at, name.size(), value);
    }
    return out;
}

/// What the server says beside its word, if it is short and plain. It may repeat names that the user knows, never a
/// header that was sent.
std::string remarkOf(const ErrorReply& said)
{
    constexpr std::size_t MostBytes = 200;
    const bool isPlain = std::all_of(said.message.begin(), said.message.end(),
                                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
    const std::string lower = lowerCased(said.message);
    const bool maySpeakOfSecrets = lower.find("signature=") != std::string::npos
        || lower.find("credential=") != std::string::npos || lower.find("token=") != std::string::npos;
    if (!isPlain || maySpeakOfSecrets || said.message.empty() || said.message.size() > MostBytes)
        return {};
    return ": " + said.message;
}

Error wrongRegion(const ErrorContext& context)
{
    if (context.wantedRegion.empty())
        return { Code::Usage,
                 fmt::format("{} says that the bucket is in another region than {}", context.host, context.usedRegion),
                 context.where, std::nullopt, std::string(RegionAction) };
    return { Code::Usage,
             fmt::format("the bucket is in region {}, and not in {}", context.wantedRegion, context.usedRegion),
             context.where, std::nullopt, fmt::format("Set AWS_REGION to {}.", context.wantedRegion) };
}

Error denied(const ErrorReply& said, const ErrorContext& context)
{
    if (context.isAnonymous)
        return { Code::Auth,
                 fmt::format("{} does not allow {} without a key, and none was found", context.host, context.action),
                 context.where, std::nullopt, "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE." };
    // A server that may not tell whether an object exists says that it is forbidden.
    return { Code::Auth,
             fmt::format("{} denies {} to access key {}{}", context.host, context.action,
                         context.keyTail.empty() ? "that was used" : "…" + context.keyTail, remarkOf(said)),
             context.where, std::nullopt,
             fmt::format("Allow {} for this key in the policy of the bucket; without s3:ListBucket a missing object "
                         "looks forbidden too.",
                         context.action) };
}

Error byStatus(int status, const ErrorReply& said, const ErrorContext& context)
{
    Error error = http::errorOfStatus(status, {});
    error.where = context.where;
    if (error.code == Code::NotFound) {
        error.text = "there is no such object";
    } else if (status == 412) {
        error.code = Code::Exists;
        error.text = "there is an object of this name already";
    } else if (status == 507) {
        error.code = Code::NoSpace;
        error.text = fmt::format("{} is full", context.host);
        error.action = SpaceAction;
    } else if (status >= 300 && status < 400) {
        error.text = fmt::format("{} redirects {} to another place", context.host, context.action);
        error.action = "Set the endpoint and region of the bucket.";
    } else {
        error.text = fmt::format("{} refuses {} (status {}{}{}){}", context.host, context.action, status,
                                 said.code.empty() ? "" : ", ", said.code.substr(0, 64), remarkOf(said));
        if (error.code == Code::Io)
            error.action = "See that the endpoint is that of an S3 server, and that it offers this.";
    }
    return error;
}

} // namespace

Error errorOfReply(int status, const ErrorReply& said, const ErrorContext& context)
{
    const bool isRegionMatter = std::find(RegionWords.begin(), RegionWords.end(), said.code) != RegionWords.end();
    if (isRegionMatter || (status == 301 && !context.wantedRegion.empty()))
        return wrongRegion(context);
    const auto* const meaning =
        std::find_if(Meanings.begin(), Meanings.end(), [&](const Meaning& m) { return m.word == said.code; });
    if (meaning != Meanings.end())
        return { meaning->code, filled(meaning->text, context), context.where, std::nullopt,
                 std::string(meaning->action) };
    if (status == 401 || status == 403)
        return denied(said, context);
    return byStatus(status, said, context);
}

} // namespace deltascope::s3
