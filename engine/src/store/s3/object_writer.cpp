#include "../../base/percent_code.h"
#include "deltascope/engine/http_retry.h"
#include "encoding.h"
#include "s3_writing.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr int MostBodySends = 3; ///< of a body that was changed on its way, or that meets another writer
constexpr auto LetOthersWrite = std::chrono::milliseconds(200);

std::int64_t microseconds(std::chrono::system_clock::time_point time)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

/// Of the caller, who waits until nothing of it is used any more.
std::shared_ptr<const Payload> borrowed(const Payload& payload) { return { std::shared_ptr<void>(), &payload }; }

/// Whether a server refuses the checksum itself, not the bytes.
bool refusesChecksum(const http::Response& response, const ErrorReply& said)
{
    const bool isWord = said.code == "NotImplemented" || said.code == "InvalidRequest" || said.code == "InvalidArgument"
        || said.code == "UnsupportedArgument";
    const bool isAboutIt = lowerCased(said.message).find("checksum") != std::string::npos
        || said.message.find("header") != std::string::npos;
    return (response.status == 501 || response.status == 400) && isWord && isAboutIt;
}

} // namespace

Call ObjectWriter::callOf(std::string action, std::string method, std::string_view key) const
{
    Call call;
    call.action = std::move(action);
    call.method = std::move(method);
    call.key = bucketKeyOf(m_client.settings(), key);
    call.shown = key;
    return call;
}

Result<ObjectInfo> ObjectWriter::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    DS_CHECK(checkKey(key));
    DS_CHECK(task.checkpoint());
    return bytes.sizeBytes() > MostWholeBytes ? putInParts(key, bytes, mode, task) : putWhole(key, bytes, mode, task);
}

Result<http::Response> ObjectWriter::sendBody(Call& call, const BodyDigests& digests, http::Sender& sender,
                                              bool withChecksum, TaskContext& task)
{
    const http::Headers plain = call.headers;
    call.payloadHash = digests.sha256Text();
    for (int sends = 1;; ++sends) {
        call.headers = plain;
        if (digests.md5)
            call.headers.add("Content-MD5", digests.md5Text());
        const bool hasChecksum = withChecksum && m_takesChecksums;
        if (hasChecksum)
            call.headers.add("x-amz-checksum-crc64nvme", digests.crc64Text());
        DS_TRY(http::Response response, m_client.sendThrough(sender, call, task));
        if (response.isGood())
            return response;
        const ErrorReply said = parseErrorReply(response.body);
        if (hasChecksum && refusesChecksum(response, said)) {
            m_takesChecksums = false;
            continue;
        }
        const bool isConflict = response.status == 409;
        const bool wasChanged = m_client.errorOf(call, response).code == Code::Digest;
        if (sends >= MostBodySends || !(isConflict || wasChanged))
            return response;
        if (isConflict)
            DS_CHECK(http::systemRetryClock()->pause(LetOthersWrite, task));
    }
}

Result<ObjectInfo> ObjectWriter::putWhole(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    DS_CHECK(bytes.await(0, bytes.sizeBytes(), task));
    DS_TRY(const BodyDigests digests, digestBody(bytes, true, key, task));
    Call call = callOf("s3:PutObject", "PUT", key);
    call.body = borrowed(bytes);
    call.headers.add("Content-Type", "application/octet-stream");
    LostReplies lost(m_client.sender());
    http::RetryPolicy policy;
    policy.hasAnswered = true; // who puts has listed before
    http::RetryingSender retrying(lost, policy);
    const bool isConditional = mode == PutMode::IfAbsent && m_client.settings().hasConditionalPut;
    if (mode == PutMode::IfAbsent && !isConditional)
        DS_CHECK(refuseExisting(key, task));
    if (isConditional)
        call.headers.add("If-None-Match", "*");
    http::Sender& sender = isConditional ? static_cast<http::Sender&>(retrying) : m_client.sender();
    DS_TRY(const http::Response response, sendBody(call, digests, sender, true, task));
    if (response.isGood())
        return placed(key, digests.sizeBytes, etagOf(response.headers.find("ETag").value_or("")), response, task);
    if (response.status == 412 && lost.mayHaveHappened()) {
        const auto etag = [&]() -> Result<std::string> { return digests.md5 ? toHex(*digests.md5) : std::string(); };
        DS_TRY(const auto ours, findOurs(key, digests.sizeBytes, etag, digests.crc64, task));
        if (ours)
            return *ours;
    }
    return fail(m_client.errorOf(call, response));
}

Result<std::optional<ObjectInfo>> ObjectWriter::findOurs(std::string_view key, std::uint64_t sizeBytes,
                                                         const std::function<Result<std::string>()>& etag,
                                                         std::uint64_t crc64, TaskContext& task)
{
    WholeChecksums told;
    const Result<ObjectInfo> there = m_reader.stat(key, task, &told);
    if (!there && there.error().code == Code::NotFound)
        return std::optional<ObjectInfo>();
    DS_CHECK(there);
    if (there->sizeBytes != sizeBytes)
        return std::optional<ObjectInfo>();
    bool isSame = told.crc64 && *told.crc64 == crc64;
    if (!told.crc64) {
        DS_TRY(const std::string expected, etag());
        isSame = !expected.empty() && there->identity == expected;
    }
    return isSame ? std::optional(*there) : std::optional<ObjectInfo>();
}

Result<ObjectInfo> ObjectWriter::placed(std::string_view key, std::uint64_t sizeBytes, std::string etag,
                                        const http::Response& response, TaskContext& task)
{
    if (etag.empty())
        return fail(Code::Unsupported, "the server does not say which object it has now (it gives no ETag)",
                    std::string(key), "See docs/stores/s3.md for what is needed of a server.");
    ObjectInfo object { std::string(key), sizeBytes, std::move(etag), 0, false };
    m_reader.noteVersion(object, response.headers);
    // The put has happened, whatever becomes of this look.
    const Result<ObjectInfo> there = m_reader.stat(key, task);
    if (there && there->identity == object.identity) {
        object.modifiedUs = there->modifiedUs;
        return object;
    }
    const auto date = parseHttpDate(response.headers.find("Date").value_or(""));
    object.modifiedUs = microseconds(date.value_or(std::chrono::system_clock::now()));
    return object;
}

Result<void> ObjectWriter::refuseExisting(std::string_view key, TaskContext& task)
{
    const Result<ObjectInfo> there = m_reader.stat(key, task);
    if (there)
        return fail(Code::Exists, "there is an object of this name already", std::string(key));
    // Keys that may write but not look learn it at the end of the upload.
    const Code code = there.error().code;
    return code == Code::NotFound || code == Code::Auth ? Result<void>() : fail(there.error());
}

Result<ObjectInfo> ObjectWriter::copy(const ObjectRef& from, std::string_view to, TaskContext& task)
{
    DS_CHECK(checkKey(from.key));
    DS_CHECK(checkKey(to));
    const S3Settings& settings = m_client.settings();
    Call call = callOf("s3:PutObject", "PUT", to);
    call.headers.add("x-amz-copy-source",
                     "/" + settings.bucket + "/" + percentEncode(bucketKeyOf(settings, from.key), "/"));
    if (!from.identity.empty())
        call.headers.add("x-amz-copy-source-if-match", "\"" + std::string(from.identity) + "\"");
    DS_TRY(const http::Response response, m_client.send(call, task));
    if (response.status == 412)
        return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(from.key));
    if (response.status == 404)
        call.shown = from.key;
    if (!response.isGood() || isErrorBody(response.body))
        return fail(m_client.errorOf(call, response));
    DS_TRY(const std::string etag, parseCopyEtag(response.body));
    if (!from.identity.empty() && etag != from.identity) { // of parts, or the server ignores the condition
        DS_TRY(const ObjectInfo source, m_reader.stat(from.key, task));
        if (source.identity != from.identity)
            return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(from.key));
    }
    DS_TRY(const ObjectInfo there, m_reader.stat(to, task));
    if (there.identity != etag)
        return fail(Code::Transient, "the copy was replaced at once by another object", std::string(to));
    return there;
}

} // namespace deltascope::s3
