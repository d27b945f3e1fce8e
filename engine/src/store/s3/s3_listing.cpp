#include "s3_listing.h"

#include "../ask_again.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostKeysPerPage = 1000; ///< that S3 gives
constexpr std::size_t MostListingBytes = std::size_t { 16 } << 20;

/// What stands before the keys of the store in the bucket: nothing, or the prefix with its slash.
std::string rootOf(const S3Settings& settings)
{
    return settings.prefix.empty() ? std::string() : settings.prefix + "/";
}

Result<ListReply> askListing(S3Client& client, const std::string& prefix, const std::string& startAfter,
                             std::size_t mostKeys, const ListRequest& request, TaskContext& task)
{
    Call call;
    call.action = "s3:ListBucket";
    call.shown = request.prefix;
    call.query = { { "list-type", "2" }, { "encoding-type", "url" }, { "max-keys", std::to_string(mostKeys) } };
    if (!prefix.empty())
        call.query.emplace_back("prefix", prefix);
    if (!startAfter.empty())
        call.query.emplace_back("start-after", startAfter);
    call.destination = http::Keep { MostListingBytes };
    const auto ask = [&]() -> Result<ListReply> {
        DS_TRY(const http::Response response, client.send(call, task));
        if (response.status != 200)
            return fail(client.errorOf(call, response));
        Result<ListReply> reply = parseListing(response.body);
        if (!reply && reply.error().where.empty())
            reply.error().where = client.settings().bucket;
        return reply;
    };
    return askAgain(
        ask, [](const Result<ListReply>& reply) { return !reply && reply.error().code == Code::Hostile; }, task);
}

/// Moves what belongs to the store from a reply into the page. Returns the last key of the reply.
Result<std::string> takeObjects(ListReply& reply, const std::string& root, const std::string& prefix,
                                const std::string& startAfter, std::size_t mostKeys, ListPage& page)
{
    if (reply.objects.size() > mostKeys)
        return fail(Code::ListSuspect, "the store lists more objects than were asked for", prefix);
    std::string last = startAfter;
    for (ListedObject& listed : reply.objects) {
        if (!listed.key.starts_with(prefix))
            return fail(Code::ListSuspect, "the store lists an object that was not asked for", listed.key);
        if (listed.key <= last)
            return fail(Code::ListSuspect, "the store lists its objects out of order or repeats a page", listed.key,
                        "See docs/stores/s3.md: directory buckets keep no order.");
        last = listed.key;
        ObjectInfo object { listed.key.substr(root.size()), listed.sizeBytes, std::move(listed.etag), listed.modifiedUs,
                            false };
        if (checkKey(object.key))
            page.objects.push_back(std::move(object));
    }
    return last;
}

/// Whether any key may start so: what lies before its last slash must be one itself. Some servers refuse other
/// prefixes.
bool mayHaveKeys(std::string_view prefix)
{
    const std::size_t slash = prefix.rfind('/');
    return slash == std::string_view::npos || checkKey(prefix.substr(0, slash)).has_value();
}

} // namespace

Result<ListPage> listBucket(S3Client& client, const ListRequest& request, TaskContext& task)
{
    if (request.maxKeys == 0)
        return fail(Code::Usage, "a page of a listing must have room for a key");
    const std::string root = rootOf(client.settings());
    const std::string prefix = root + request.prefix;
    std::string startAfter = request.startAfter.empty() ? std::string() : root + request.startAfter;
    const std::size_t mostKeys = std::min(request.maxKeys, MostKeysPerPage);
    ListPage page;
    if (!mayHaveKeys(request.prefix))
        return page;
    if (startAfter > prefix && !startAfter.starts_with(prefix)) // behind all keys of the prefix
        return page;
    if (startAfter <= prefix && startAfter != prefix) // servers differ where it lies before the prefix
        startAfter.clear();
    for (;;) {
        DS_CHECK(task.checkpoint());
        DS_TRY(ListReply reply, askListing(client, prefix, startAfter, mostKeys, request, task));
        if (reply.isTruncated && reply.objects.empty())
            return fail(Code::ListSuspect, "the store announces more objects but shows none", request.prefix);
        DS_TRY(std::string last, takeObjects(reply, root, prefix, startAfter, mostKeys, page));
        startAfter = std::move(last);
        page.more = reply.isTruncated;
        if (!page.more || !page.objects.empty())
            return page;
    }
}

} // namespace deltascope::s3
