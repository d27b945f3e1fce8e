#include "s3_client.h"

#include "../../base/percent_code.h"
#include "encoding.h"
#include "s3_errors.h"

#include <algorithm>
#include <array>

namespace deltascope::s3 {

namespace {

constexpr auto MostSkew = std::chrono::minutes(10); ///< servers allow 15
constexpr std::size_t KeyTailBytes = 4;

template <std::size_t Count> bool isOneOf(std::string_view code, const std::array<std::string_view, Count>& codes)
{
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// What a request asks for beside its own matter. Some servers refuse requests that carry it.
constexpr std::string_view OptionalHeader = "x-amz-checksum-mode";

http::Headers withoutOptional(const http::Headers& headers)
{
    http::Headers plain;
    for (const http::Header& line : headers.lines()) {
        if (line.name != OptionalHeader)
            plain.add(line.name, line.value);
    }
    return plain;
}

/// Whether an answer may mean that the server does not want a header. An answer to HEAD has no words to say so.
bool mayRefuseHeaders(const http::Response& response)
{
    return response.status == 400 || response.status == 501
        || (response.status == 403 && parseErrorReply(response.body).code == "SignatureDoesNotMatch");
}

constexpr std::array<std::string_view, 4> ExpiredCodes { "ExpiredToken", "ExpiredTokenException",
                                                         "TokenRefreshRequired", "RequestExpired" };

} // namespace

S3Client::S3Client(S3Settings settings, std::shared_ptr<http::Sender> sender,
                   std::shared_ptr<CredentialSource> credentials, WallClock clock)
    : m_settings(std::move(settings))
    , m_sender(std::move(sender))
    , m_credentials(std::move(credentials))
    , m_clock(std::move(clock))
    , m_endpoint(m_settings.endpoint.empty() ? http::Url()
                                             : http::Url::parse(m_settings.endpoint).value_or(http::Url()))
    , m_region(m_settings.region)
{
}

std::string S3Client::region() const
{
    const std::lock_guard lock(m_mutex);
    return m_region;
}

S3Client::Target S3Client::targetOf(const std::string& key, const std::string& region) const
{
    Target target;
    target.scheme = m_endpoint.scheme.empty() ? "https" : m_endpoint.scheme;
    target.host =
        m_endpoint.host.empty() ? "s3." + region + "." + std::string(dnsSuffix(region)) : m_endpoint.authority();
    if (m_endpoint.path != "/")
        target.path = m_endpoint.path;
    if (m_settings.addressing == Addressing::VirtualHost)
        target.host = m_settings.bucket + "." + target.host;
    else
        target.path += "/" + percentEncode(m_settings.bucket);
    if (!key.empty() || m_settings.addressing == Addressing::VirtualHost)
        target.path += "/" + percentEncode(key, "/");
    return target;
}

Result<http::Response> S3Client::send(const Call& call, TaskContext& task)
{
    return sendThrough(*m_sender, call, task);
}

Result<http::Response> S3Client::sendThrough(http::Sender& sender, const Call& call, TaskContext& task)
{
    for (Mended mended;;) {
        DS_CHECK(task.checkpoint());
        const std::string usedRegion = region();
        const Target target = targetOf(call.key, usedRegion);
        const bool hasOptional = call.headers.find(OptionalHeader) && m_takesOptional && !mended.optional;
        const http::Headers headers = hasOptional ? call.headers : withoutOptional(call.headers);
        http::Request request;
        request.method = call.method;
        request.url = target.scheme + "://" + target.host + target.path;
        if (!call.query.empty())
            request.url += "?" + queryText(call.query);
        request.headers = headers;
        request.body = call.body;
        request.destination = call.destination;
        request.range = call.range;
        request.repeatable = call.repeatable;
        request.isRetry = call.isRetry;
        request.finishWithin = call.finishWithin;
        Credentials keys;
        if (!m_settings.isAnonymous && m_credentials) {
            DS_TRY(Credentials found, m_credentials->credentials(task));
            keys = std::move(found);
            const std::lock_guard lock(m_mutex);
            m_keyTail = keys.keyId.substr(keys.keyId.size() - std::min(keys.keyId.size() / 2, KeyTailBytes));
        }
        if (!keys.keyId.empty()) {
            const auto now = m_clock() + std::chrono::seconds(m_skewSeconds.load());
            DS_TRY(http::Headers lines,
                   signRequest({ call.method, target.host, target.path, call.query, headers, call.payloadHash },
                               { usedRegion, "s3", now }, keys));
            request.headers = std::move(lines);
        }
        Result<http::Response> response = sender.send(request, task);
        DS_CHECK(response);
        if (mended.optional && !mayRefuseHeaders(*response))
            m_takesOptional = false; // it was the header: this server gets it no more
        if (response->isGood())
            return response;
        DS_TRY(const bool again, mend(*response, keys, usedRegion, mended, task));
        if (again)
            continue;
        if (!hasOptional || !mayRefuseHeaders(*response))
            return response;
        mended.optional = true;
    }
}

std::string S3Client::regionWanted(const http::Response& response, const ErrorReply& said) const
{
    const std::string header(response.headers.find("x-amz-bucket-region").value_or(""));
    return isRegion(header) ? header : said.region;
}

bool S3Client::mendSkew(const http::Response& response, const ErrorReply& said, bool isHead)
{
    const auto date = parseHttpDate(response.headers.find("Date").value_or(""));
    if (!date)
        return false;
    const auto now = m_clock();
    const auto known = std::chrono::seconds(m_skewSeconds.load());
    const auto skew = std::chrono::floor<std::chrono::seconds>(*date - now);
    // An answer to HEAD has no body to say it with, so a refused request is signed once more.
    const bool maySaySo = isHead && response.status == 403;
    if (said.code != "RequestTimeTooSkewed" && !maySaySo)
        return false;
    if (!maySaySo || std::chrono::abs(skew - known) > MostSkew)
        m_skewSeconds = skew.count();
    return true;
}

Result<bool> S3Client::mend(const http::Response& response, const Credentials& keys, const std::string& usedRegion,
                            Mended& mended, TaskContext& task)
{
    const ErrorReply said = parseErrorReply(response.body);
    const bool isSilent = said.code.empty();
    if (!mended.skew && !keys.keyId.empty() && mendSkew(response, said, isSilent))
        return mended.skew = true;
    const bool isExpired = isOneOf(said.code, ExpiredCodes)
        || (isSilent && !keys.sessionToken.empty() && (response.status == 400 || response.status == 403));
    if (!mended.keys && isExpired) {
        mended.keys = true;
        DS_TRY(const Credentials others, m_credentials->renew(keys, task));
        if (others.keyId != keys.keyId || others.sessionToken != keys.sessionToken)
            return true;
    }
    const std::string wanted = regionWanted(response, said);
    const bool isOtherPlace = response.status == 301 || response.status == 307 || response.status == 400;
    if (!mended.region && isOtherPlace && !wanted.empty() && wanted != usedRegion) {
        const std::lock_guard lock(m_mutex);
        m_region = wanted;
        return mended.region = true;
    }
    return false;
}

Error S3Client::errorOf(const Call& call, const http::Response& response) const
{
    const ErrorReply said = parseErrorReply(response.body);
    ErrorContext context;
    context.action = call.action;
    context.where = call.shown;
    context.bucket = m_settings.bucket;
    context.host = targetOf({}, region()).host;
    context.wantedRegion = regionWanted(response, said);
    context.isAnonymous = m_settings.isAnonymous || !m_credentials;
    const std::lock_guard lock(m_mutex);
    context.usedRegion = m_region;
    context.keyTail = m_keyTail;
    return errorOfReply(response.status, said, context);
}

Result<http::Response> LostReplies::send(const http::Request& request, TaskContext& task)
{
    http::Request once = request;
    once.repeatable = false;
    Result<http::Response> response = m_inner.send(once, task);
    if (response ? response->status >= 500 : response.error().code == Code::Transient)
        m_mayHaveHappened = true;
    return response;
}

} // namespace deltascope::s3
