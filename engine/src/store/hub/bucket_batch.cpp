#include "bucket_api.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace deltascope::hub {

namespace {

using nlohmann::json;

constexpr std::size_t MostOperations = 500; // of one request
constexpr std::size_t MostReplyBytes = std::size_t { 4 } << 20;
constexpr int MostTries = 3;
constexpr std::chrono::milliseconds FirstBatchPause { 2'000 };

std::string lineOf(const BatchOperation& operation, const std::string& bucketId)
{
    if (operation.kind == BatchOperation::Kind::Delete)
        return json { { "type", "deleteFile" }, { "path", operation.path } }.dump();
    json line { { "path", operation.path }, { "xetHash", operation.xetHash }, { "mtime", operation.mtimeMs } };
    if (operation.kind == BatchOperation::Kind::Add) {
        line["type"] = "addFile";
        line["contentType"] = "application/octet-stream";
    } else {
        line["type"] = "copyFile";
        line["sourceRepoType"] = "bucket";
        line["sourceRepoId"] = bucketId;
    }
    return line.dump();
}

Error notDone(const std::string& path, const std::string& why)
{
    std::string words = why.substr(0, 200);
    std::replace_if(
        words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return { Code::Io, fmt::format("the Hub did not carry out a change{}{}", words.empty() ? "" : ": ", words), path,
             std::nullopt, "" };
}

/// All that the reply leaves open: the reply is not believed where it contradicts itself or was asked for more.
bool isComplete(const BatchReply& reply, std::size_t sent)
{
    if (reply.processed && *reply.processed != sent)
        return false;
    if (reply.succeeded && (reply.failed.size() > sent || *reply.succeeded != sent - reply.failed.size()))
        return false;
    return reply.success.value_or(true) || !reply.failed.empty();
}

} // namespace

/// Returns which are to be sent again; the outcomes of all that were sent are set.
Result<std::vector<std::size_t>> BucketApi::send(const std::vector<BatchOperation>& operations,
                                                 const std::vector<std::size_t>& which,
                                                 std::vector<Result<void>>& outcomes, TaskContext& task) const
{
    std::string lines;
    std::unordered_map<std::string_view, std::size_t> byPath;
    for (const std::size_t i : which) {
        lines += lineOf(operations[i], m_id) + '\n';
        byPath.emplace(operations[i].path, i);
    }
    http::Request request = m_hub->request("POST", m_route + "/batch");
    request.headers.add("Content-Type", "application/x-ndjson");
    request.body = http::bodyOf(std::move(lines));
    request.repeatable = true; // each of the operations says what is to be, not what to do
    request.destination = http::Keep { MostReplyBytes };
    DS_TRY(const http::Response answer, m_hub->retrying()->send(request, task));
    if (!answer.isGood() && answer.status != 422) // all failed, as the body tells
        return fail(hubError(answer, subject(), m_hub->hasToken()));
    DS_TRY(const BatchReply reply, parseBatchReply(answer.body));

    std::vector<std::size_t> again;
    if (!isComplete(reply, which.size())) {
        for (const std::size_t i : which)
            outcomes[i] = fail(notDone(operations[i].path, "its answer does not account for all changes"));
        return which;
    }
    for (const std::size_t i : which)
        outcomes[i] = {};
    for (const BatchReply::Failure& failure : reply.failed) {
        const auto found = byPath.find(failure.path);
        if (found == byPath.end())
            return fail(Code::Hostile, "the Hub tells of a change that it was not asked for", m_id);
        outcomes[found->second] = fail(notDone(failure.path, failure.error));
        again.push_back(found->second);
    }
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    return again;
}

void BucketApi::applySome(const std::vector<BatchOperation>& operations, std::vector<std::size_t> which,
                          std::vector<Result<void>>& outcomes, TaskContext& task) const
{
    for (int number = 1;; ++number) {
        Result<std::vector<std::size_t>> again = send(operations, which, outcomes, task);
        if (!again) { // what of them was carried out is not known
            for (const std::size_t i : which)
                outcomes[i] = fail(again.error());
            return;
        }
        if (again->empty() || number == MostTries)
            return;
        which = std::move(*again);
        if (const Result<void> pause = m_hub->clock()->pause(FirstBatchPause * number, task); !pause) {
            for (const std::size_t i : which)
                outcomes[i] = fail(pause.error());
            return;
        }
    }
}

std::vector<Result<void>> BucketApi::apply(const std::vector<BatchOperation>& operations, TaskContext& task) const
{
    std::vector<Result<void>> outcomes(operations.size());
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        outcomes[i] = checkHubPath(operations[i].path);
        if (outcomes[i])
            good.push_back(i);
    }
    for (std::size_t begin = 0; begin < good.size(); begin += MostOperations) {
        const std::size_t end = std::min(begin + MostOperations, good.size());
        applySome(
            operations,
            { good.begin() + static_cast<std::ptrdiff_t>(begin), good.begin() + static_cast<std::ptrdiff_t>(end) },
            outcomes, task);
    }
    return outcomes;
}

} // namespace deltascope::hub
