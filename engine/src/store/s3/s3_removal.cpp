#include "s3_removal.h"

#include "body_digests.h"
#include "encoding.h"
#include "s3_errors.h"
#include "s3_reading.h"
#include "xml.h"

#include <algorithm>
#include <unordered_map>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostRemovedAtOnce = 1000; ///< of DeleteObjects
constexpr std::size_t MostDeleteReplyBytes = std::size_t { 4 } << 20;

/// XML 1.0 cannot hold some characters, however they are written.
bool canStandInXml(std::string_view key)
{
    return std::none_of(key.begin(), key.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
    });
}

Result<void> deleteOne(S3Client& client, std::string_view key, TaskContext& task)
{
    Call call;
    call.action = "s3:DeleteObject";
    call.method = "DELETE";
    call.key = bucketKeyOf(client.settings(), key);
    call.shown = key;
    DS_TRY(const http::Response response, client.send(call, task));
    if (!response.isGood() && response.status != 404)
        return fail(client.errorOf(call, response));
    return {};
}

Result<std::vector<DeleteFailure>> deleteBatch(S3Client& client, const std::vector<std::string>& bucketKeys,
                                               TaskContext& task)
{
    std::string document = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
    for (const std::string& key : bucketKeys)
        document += "<Object><Key>" + xmlEscaped(key) + "</Key></Object>";
    document += "</Delete>";
    Call call;
    call.action = "s3:DeleteObject";
    call.method = "POST";
    call.query = { { "delete", "" } };
    call.headers.add("Content-Type", "application/xml");
    if (const auto md5 = md5Of(asBytes(document)))
        call.headers.add("Content-MD5", base64Of(*md5));
    call.payloadHash = sha256Hex(document);
    call.body = http::bodyOf(std::move(document));
    call.repeatable = true; // what is gone stays gone
    call.destination = http::Keep { MostDeleteReplyBytes };
    DS_TRY(const http::Response response, client.send(call, task));
    if (!response.isGood() || isErrorBody(response.body))
        return fail(client.errorOf(call, response));
    return parseDeleteReply(response.body);
}

/// Gives each of `wanted` (indices into `keys`) its outcome.
void removeBatch(S3Client& client, const std::vector<std::string>& keys, const std::vector<std::size_t>& wanted,
                 std::vector<Result<void>>& outcomes, TaskContext& task)
{
    std::vector<std::string> bucketKeys;
    for (const std::size_t index : wanted)
        bucketKeys.push_back(bucketKeyOf(client.settings(), keys[index]));
    const Result<std::vector<DeleteFailure>> failures = deleteBatch(client, bucketKeys, task);
    if (!failures) {
        for (const std::size_t index : wanted) {
            outcomes[index] = fail(failures.error());
            outcomes[index].error().where = keys[index];
        }
        return;
    }
    std::unordered_map<std::string_view, const ErrorReply*> errors;
    for (const DeleteFailure& failure : *failures)
        errors.emplace(failure.key, &failure.error);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto found = errors.find(bucketKeys[i]);
        if (found == errors.end() || found->second->code == "NoSuchKey")
            continue;
        ErrorContext context;
        context.action = "s3:DeleteObject";
        context.where = keys[wanted[i]];
        context.bucket = client.settings().bucket;
        context.host = "the server";
        constexpr int Forbidden = 403;
        constexpr int Failed = 500;
        outcomes[wanted[i]] =
            fail(errorOfReply(found->second->code == "AccessDenied" ? Forbidden : Failed, *found->second, context));
    }
}

} // namespace

Result<void> removeObject(S3Client& client, std::string_view key, TaskContext& task)
{
    DS_CHECK(checkKey(key));
    ObjectReader reader(client);
    const Result<ObjectInfo> there = reader.stat(key, task);
    if (!there && there.error().code != Code::Auth) // one who may remove need not be allowed to look
        return fail(there.error());
    return deleteOne(client, key, task);
}

std::vector<Result<void>> removeObjects(S3Client& client, const std::vector<std::string>& keys, TaskContext& task)
{
    std::vector<Result<void>> outcomes(keys.size());
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        outcomes[i] = checkKey(keys[i]);
        if (outcomes[i] && !canStandInXml(keys[i]))
            outcomes[i] = deleteOne(client, keys[i], task);
        else if (outcomes[i])
            wanted.push_back(i);
    }
    for (std::size_t begin = 0; begin < wanted.size(); begin += MostRemovedAtOnce) {
        const std::size_t end = std::min(wanted.size(), begin + MostRemovedAtOnce);
        const std::vector<std::size_t> batch(wanted.begin() + static_cast<std::ptrdiff_t>(begin),
                                             wanted.begin() + static_cast<std::ptrdiff_t>(end));
        if (const Result<void> going = task.checkpoint(); !going) {
            for (const std::size_t index : batch)
                outcomes[index] = fail(going.error());
            continue;
        }
        removeBatch(client, keys, batch, outcomes, task);
    }
    return outcomes;
}

} // namespace deltascope::s3
