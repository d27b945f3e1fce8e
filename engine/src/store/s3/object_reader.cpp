#include "../ask_again.h"
#include "deltascope/engine/http_url.h"
#include "s3_reading.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostKnownVersions = 65'536;
constexpr int MostWithoutChecksum = 8; ///< then the store is not asked any more
constexpr std::uint64_t MostOffset = std::uint64_t { 1 } << 62; ///< no object is that large

tl::unexpected<Error> tooShortObject(std::string_view key, std::uint64_t offset, std::uint64_t wanted,
                                     std::optional<std::uint64_t> size)
{
    return fail(Code::Truncated,
                size ? fmt::format("the object ends after {} bytes; {} bytes from byte {} on were expected", *size,
                                   wanted, offset)
                     : fmt::format("the object ends before byte {}", offset),
                std::string(key));
}

tl::unexpected<Error> otherObject(std::string_view key)
{
    return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(key));
}

std::string versionName(const ObjectRef& object)
{
    std::string name(object.key);
    name += '\0';
    name += object.identity;
    return name;
}

/// "bytes */10": 10.
std::optional<std::uint64_t> sizeOfRefusedRange(const http::Headers& headers)
{
    const std::string_view text = headers.find("Content-Range").value_or("");
    const std::size_t slash = text.find('/');
    const auto size = slash == std::string_view::npos ? std::nullopt : parseNumber(text.substr(slash + 1));
    return size ? std::optional(static_cast<std::uint64_t>(*size)) : std::nullopt;
}

bool isRedirect(const http::Response& response)
{
    return response.status >= 301 && response.status <= 308 && response.status != 304
        && response.headers.find("Location").has_value();
}

} // namespace

void KnownVersions::note(const ObjectRef& object, const http::Headers& headers)
{
    constexpr std::size_t MostVersionBytes = 1024;
    const std::string version(headers.find("x-amz-version-id").value_or(""));
    if (version.empty() || version == "null" || version.size() > MostVersionBytes || object.identity.empty())
        return;
    const std::lock_guard lock(m_mutex);
    if (m_versions.size() >= MostKnownVersions)
        m_versions.clear();
    m_versions[versionName(object)] = version;
}

std::string KnownVersions::versionOf(const ObjectRef& object) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_versions.find(versionName(object));
    return found == m_versions.end() ? std::string() : found->second;
}

std::string bucketKeyOf(const S3Settings& settings, std::string_view key)
{
    return settings.prefix.empty() ? std::string(key) : settings.prefix + "/" + std::string(key);
}

Call ObjectReader::callOf(std::string action, std::string method, const ObjectRef& object) const
{
    Call call;
    call.action = std::move(action);
    call.method = std::move(method);
    call.key = bucketKeyOf(m_client.settings(), object.key);
    call.shown = object.key;
    call.headers.add("x-amz-checksum-mode", "ENABLED");
    if (!object.identity.empty() && !object.identity.starts_with("W/"))
        call.headers.add("If-Match", "\"" + std::string(object.identity) + "\"");
    return call;
}

Result<http::Response> ObjectReader::head(const ObjectRef& object, TaskContext& task)
{
    const Call call = callOf("s3:GetObject", "HEAD", object);
    DS_TRY(http::Response response, m_client.send(call, task));
    if (response.status == 412)
        return otherObject(object.key);
    if (response.status != 200)
        return fail(whyNotRead(call, response, task));
    const std::string identity = etagOf(response.headers.find("ETag").value_or(""));
    if (identity.empty())
        return fail(Code::Unsupported, "the server does not say which object it has (it gives no ETag)",
                    std::string(object.key), "See docs/stores/s3.md for what is needed of a server.");
    if (!object.identity.empty() && identity != object.identity)
        return otherObject(object.key);
    return response;
}

Error ObjectReader::whyNotRead(const Call& call, const http::Response& response, TaskContext& task)
{
    constexpr int NoSuch = 404;
    const http::Response* said = &response;
    Result<http::Response> told = fail(Code::Internal, "was not asked");
    if (call.method == "HEAD" && response.status >= 400 && response.status != NoSuch) { // it cannot say why
        Call asking = call;
        asking.method = "GET";
        asking.range = http::ByteRange { 0, 1 };
        told = m_client.send(asking, task);
        if (told && told->status >= 400)
            said = &*told;
    }
    Error error = m_client.errorOf(call, *said);
    const std::string word = parseErrorReply(said->body).code;
    if (word == "KeyTooLongError" || word == "KeyTooLong" || word == "XMinioInvalidObjectName") // there cannot be one
        error = Error { Code::NotFound, "there is no such object", call.shown, std::nullopt, {} };
    return error;
}

Result<ObjectInfo> ObjectReader::stat(std::string_view key, TaskContext& task, WholeChecksums* told)
{
    DS_CHECK(checkKey(key));
    DS_TRY(const http::Response response, head(key, task));
    ObjectInfo info;
    info.key = key;
    info.identity = etagOf(response.headers.find("ETag").value_or(""));
    const auto size = parseNumber(response.headers.find("Content-Length").value_or(""));
    const auto modified = parseHttpDate(response.headers.find("Last-Modified").value_or(""));
    if (!size || !modified)
        return fail(Code::Unsupported, "the server does not say how large the object is, or when it was put",
                    std::string(key), "See that the endpoint is that of an S3 server.");
    info.sizeBytes = static_cast<std::uint64_t>(*size);
    info.modifiedUs = std::chrono::duration_cast<std::chrono::microseconds>(modified->time_since_epoch()).count();
    m_versions.note(info, response.headers);
    if (told)
        *told = checksumsOf(response.headers);
    return info;
}

Result<void> ObjectReader::readNothing(const ObjectRef& object, std::uint64_t offset, std::uint64_t bytes,
                                       TaskContext& task)
{
    DS_TRY(const ObjectInfo now, stat(object.key, task));
    if (!object.identity.empty() && now.identity != object.identity)
        return otherObject(object.key);
    if (offset > now.sizeBytes || bytes > now.sizeBytes - offset)
        return tooShortObject(object.key, offset, bytes, now.sizeBytes);
    return {};
}

Result<void> ObjectReader::learnChecksum(const ObjectRef& object, TaskContext& task)
{
    if (m_withoutChecksum >= MostWithoutChecksum)
        return m_ledger.learn(object, {});
    const Result<http::Response> response = head(object, task);
    if (!response && response.error().code == Code::Canceled)
        return fail(response.error());
    const WholeChecksums told = response ? checksumsOf(response->headers) : WholeChecksums {};
    if (response)
        m_withoutChecksum = told.hasAny() ? 0 : m_withoutChecksum + 1;
    return m_ledger.learn(object, told); // the bytes were bound to their identity; only proof is lacking
}

Result<http::Response> ObjectReader::getElsewhere(const Call& call, const http::Response& redirect, TaskContext& task)
{
    const std::string location(redirect.headers.find("Location").value_or(""));
    const Result<http::Url> url = http::Url::parse(location);
    const bool isSecure = m_client.settings().endpoint.empty() || m_client.settings().endpoint.starts_with("https:");
    if (!url || !url->isHttp() || (isSecure && url->scheme != "https"))
        return fail(Code::Unsupported, "the server redirects a read to an address that must not be followed",
                    call.shown, "Set the endpoint and region of the bucket.");
    http::Request request; // without signature and conditions, which are for the first server
    request.url = location;
    request.destination = call.destination;
    request.range = call.range;
    return m_client.sender().send(request, task);
}

Result<ObjectReader::RangeReply> ObjectReader::getRange(const ObjectRef& object, http::ByteRange range,
                                                        const http::Destination& to, TaskContext& task, bool isRetry)
{
    if (range.offset > MostOffset || range.bytes > MostOffset)
        return tooShortObject(object.key, range.offset, range.bytes, std::nullopt);
    Call call = callOf("s3:GetObject", "GET", object);
    call.destination = to;
    call.range = range;
    call.isRetry = isRetry;
    bool isGood = false;
    const auto ask = [&]() -> Result<RangeReply> {
        isGood = false;
        DS_TRY(http::Response response, m_client.send(call, task));
        if (response.status == 412) {
            const std::string version = m_versions.versionOf(object);
            if (version.empty())
                return otherObject(object.key);
            call.query = { { "versionId", version } };
            DS_TRY(http::Response older, m_client.send(call, task));
            if (older.status == 404 || older.status == 412)
                return otherObject(object.key);
            response = std::move(older);
        }
        isGood = response.isGood();
        return rangeReply(call, object, range, response, task);
    };
    const auto isDamaged = [&](const Result<RangeReply>& reply) {
        return !reply && isGood && (reply.error().code == Code::Unsupported || reply.error().code == Code::Transient);
    };
    return askAgain(ask, isDamaged, task);
}

Result<ObjectReader::RangeReply> ObjectReader::rangeReply(const Call& call, const ObjectRef& object,
                                                          http::ByteRange range, http::Response& response,
                                                          TaskContext& task)
{
    const bool isElsewhere = isRedirect(response);
    if (isElsewhere) {
        DS_TRY(http::Response other, getElsewhere(call, response, task));
        response = std::move(other);
    }
    if (response.status == 416)
        return tooShortObject(object.key, range.offset, range.bytes, sizeOfRefusedRange(response.headers));
    if (!response.isGood())
        return fail(whyNotRead(call, response, task));
    const auto& said = response.contentRange;
    if (response.status != 206 || !response.isWhole || !said || !said->totalBytes)
        return fail(Code::Unsupported, "the server sends other bytes than were asked for (it ignores ranges)",
                    std::string(object.key), "See docs/stores/s3.md for what is needed of a server.");
    RangeReply reply;
    reply.gotBytes = said->range.bytes;
    reply.totalBytes = *said->totalBytes;
    const std::uint64_t left = reply.totalBytes - range.offset;
    if (reply.gotBytes != std::min(range.bytes, left))
        return fail(Code::Transient, "the server sends fewer bytes than the object holds", std::string(object.key));
    reply.identity = etagOf(response.headers.find("ETag").value_or(""));
    if (isElsewhere) { // another server names its bytes as it likes; ours says whether they were still the ones
        DS_TRY(const http::Response now, head(object, task));
        reply.identity = etagOf(now.headers.find("ETag").value_or(""));
    }
    if (!object.identity.empty() && reply.identity.empty())
        return fail(Code::Unsupported, "the server does not say which object it sends (it gives no ETag)",
                    std::string(object.key), "See docs/stores/s3.md for what is needed of a server.");
    if (!object.identity.empty() && reply.identity != object.identity)
        return otherObject(object.key);
    if (!isElsewhere)
        reply.told = checksumsOf(response.headers);
    m_versions.note({ ObjectInfo { std::string(object.key), 0, reply.identity, 0, false } }, response.headers);
    return reply;
}

} // namespace deltascope::s3
