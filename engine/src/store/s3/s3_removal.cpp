#include "s3_removal.h"

#include "body_digests.h"
#include "encoding.h"
#include "parallel_requests.h"
#include "s3_errors.h"
#include "s3_reading.h"
#include "xml.h"

#include <algorithm>
#include <unordered_map>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostRemovedAtOnce = 1000; ///< of DeleteObjects
constexpr std::size_t MostDeleteReplyBytes = std::size_t { 4 } << 20;
constexpr unsigned MostAtOnce = 16; ///< requests for single objects

/// XML 1.0 cannot hold some characters, however they are written.
bool canStandInXml(std::string_view key)
{
    return std::none_of(key.begin(), key.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
    });
}

tl::unexpected<Error> rewritten(std::string_view key)
{
    return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(key));
}

/// `identity`: empty: whatever the key stands for; else a condition of the request.
Result<void> deleteOne(S3Client& client, std::string_view key, std::string_view identity, TaskContext& task)
{
    Call call;
    call.action = "s3:DeleteObject";
    call.method = "DELETE";
    call.key = bucketKeyOf(client.settings(), key);
    call.shown = key;
    if (!identity.empty())
        call.headers.add("If-Match", "\"" + std::string(identity) + "\"");
    DS_TRY(const http::Response response, client.send(call, task));
    if (response.status == 412)
        return rewritten(key);
    if (!response.isGood() && (response.status != 404 || !identity.empty()))
        return fail(client.errorOf(call, response));
    return {};
}

/// Whether the key stands for the identity, if one is named, and for an object at all.
Result<void> expectThere(S3Client& client, const ObjectRef& object, TaskContext& task)
{
    ObjectReader reader(client);
    const Result<ObjectInfo> there = reader.stat(object.key, task);
    if (!there && there.error().code == Code::Auth && object.identity.empty())
        return {}; // who may remove need not be allowed to look
    if (!there)
        return fail(there.error());
    return object.identity.empty() || there->identity == object.identity ? Result<void>() : rewritten(object.key);
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

/// Gives each of `wanted` (indices into `objects`) its outcome.
void removeBatch(S3Client& client, const std::vector<ObjectRef>& objects, const std::vector<std::size_t>& wanted,
                 std::vector<Result<void>>& outcomes, TaskContext& task)
{
    std::vector<std::string> bucketKeys;
    for (const std::size_t index : wanted)
        bucketKeys.push_back(bucketKeyOf(client.settings(), objects[index].key));
    const Result<std::vector<DeleteFailure>> failures = deleteBatch(client, bucketKeys, task);
    if (!failures) {
        for (const std::size_t index : wanted) {
            outcomes[index] = fail(failures.error());
            outcomes[index].error().where = objects[index].key;
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
        context.where = objects[wanted[i]].key;
        context.bucket = client.settings().bucket;
        context.host = "the server";
        constexpr int Forbidden = 403;
        constexpr int Failed = 500;
        outcomes[wanted[i]] =
            fail(errorOfReply(found->second->code == "AccessDenied" ? Forbidden : Failed, *found->second, context));
    }
}

} // namespace

std::vector<Result<void>> removeObjects(S3Client& client, const std::vector<ObjectRef>& objects, TaskContext& task)
{
    const bool isConditional = client.settings().hasConditionalRemove;
    std::vector<Result<void>> outcomes(objects.size());
    std::vector<std::size_t> single;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        outcomes[i] = checkKey(objects[i].key);
        if (outcomes[i] && (objects.size() == 1 || !objects[i].identity.empty() || !canStandInXml(objects[i].key)))
            single.push_back(i);
    }
    std::vector<char> isDone(objects.size());
    runRequests(MostAtOnce, single.size(), [&](std::size_t n) {
        const ObjectRef& object = objects[single[n]];
        Result<void>& outcome = outcomes[single[n]];
        outcome = task.checkpoint();
        const bool hasCondition = isConditional && !object.identity.empty();
        if (outcome && !hasCondition && (objects.size() == 1 || !object.identity.empty()))
            outcome = expectThere(client, object, task);
        isDone[single[n]] = hasCondition || objects.size() == 1 || !canStandInXml(object.key);
        if (outcome && isDone[single[n]])
            outcome = deleteOne(client, object.key, hasCondition ? object.identity : std::string_view(), task);
    });
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (outcomes[i] && !isDone[i])
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
        removeBatch(client, objects, batch, outcomes, task);
    }
    return outcomes;
}

} // namespace deltascope::s3
