#include "parallel_requests.h"
#include "s3_reading.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr std::uint64_t MostGapBytes = std::uint64_t { 64 } << 10; ///< read for nothing rather than asked for apart
constexpr std::uint64_t MostRequestBytes = std::uint64_t { 8 } << 20;
constexpr unsigned MostReadsAtOnce = 16;
constexpr int MostChanges = 3; ///< of an object while it is read without a wanted identity

} // namespace

/// Spreads the body of one answer over the pieces that it is for.
class ObjectReader::ScatterSink final : public http::Sink {
public:
    explicit ScatterSink(const Job& job)
        : m_job(job)
    {
    }
    void begin(const http::Response&) override { m_at = m_job.offset; }
    Result<void> take(ByteSpan bytes) override
    {
        const std::uint64_t end = m_at + bytes.size();
        for (const Piece& piece : m_job.pieces) {
            if (piece.offset >= end)
                break;
            const std::uint64_t first = std::max(m_at, piece.offset);
            const std::uint64_t last = std::min(end, piece.offset + piece.out.size());
            if (first < last)
                std::memcpy(piece.out.data() + (first - piece.offset), bytes.data() + (first - m_at),
                            static_cast<std::size_t>(last - first));
        }
        m_at = end;
        return {};
    }

private:
    const Job& m_job;
    std::uint64_t m_at = 0;
};

std::vector<ObjectReader::Job> ObjectReader::planJobs(const std::vector<RangeRead>& reads,
                                                      const std::vector<std::size_t>& order)
{
    std::vector<Job> jobs;
    for (const std::size_t index : order) {
        const RangeRead& read = reads[index];
        for (std::uint64_t done = 0; done < read.out.size();) {
            const std::uint64_t offset = read.offset + done;
            const std::uint64_t bytes = std::min<std::uint64_t>(MostRequestBytes, read.out.size() - done);
            const MutableByteSpan out =
                read.out.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(bytes));
            done += bytes;
            Job* const last = jobs.empty() ? nullptr : &jobs.back();
            const bool isNear = last && last->object.key == read.object.key
                && last->object.identity == read.object.identity && offset - last->offset <= last->bytes + MostGapBytes
                && std::max(last->bytes, offset - last->offset + bytes) <= MostRequestBytes;
            if (!isNear) {
                jobs.push_back({ read.object, offset, bytes, { { index, offset, out } } });
                continue;
            }
            last->bytes = std::max(last->bytes, offset - last->offset + bytes);
            last->pieces.push_back({ index, offset, out });
        }
    }
    return jobs;
}

Result<void> ObjectReader::countPiece(const Job& job, std::uint64_t call, const RangeReply& reply, const Piece& piece,
                                      TaskContext& task)
{
    const std::uint64_t end = job.offset + reply.gotBytes;
    if (piece.offset + piece.out.size() > end)
        return fail(Code::Truncated,
                    fmt::format("the object ends after {} bytes; {} bytes from byte {} on were expected",
                                reply.totalBytes, piece.out.size(), piece.offset),
                    std::string(job.object.key));
    if (reply.identity.empty())
        return {};
    const ObjectInfo known { std::string(job.object.key), reply.totalBytes, reply.identity, 0, false };
    DS_TRY(const bool isComplete, m_ledger.add(known, reply.totalBytes, piece.offset, piece.out, reply.told, call));
    return isComplete ? learnChecksum(known, task) : Result<void>();
}

void ObjectReader::runJob(const Job& job, std::uint64_t call, std::vector<Result<void>>& outcomes, std::mutex& mutex,
                          TaskContext& task)
{
    ScatterSink scatter(job);
    const bool isPlain = job.pieces.size() == 1;
    const http::Destination to = isPlain ? http::Destination(job.pieces.front().out) : http::Destination(&scatter);
    const Result<RangeReply> reply = caught([&] { return getRange(job.object, { job.offset, job.bytes }, to, task); });
    for (const Piece& piece : job.pieces) {
        Result<void> outcome;
        if (!reply)
            outcome = fail(reply.error());
        else
            outcome = countPiece(job, call, *reply, piece, task);
        const std::lock_guard lock(mutex);
        if (outcomes[piece.read] && !outcome)
            outcomes[piece.read] = std::move(outcome);
    }
}

Result<void> ObjectReader::readUnbound(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                                       TaskContext& task)
{
    // Several requests would mix two objects of the name.
    for (int changes = 0; changes < MostChanges; ++changes) {
        DS_TRY(const ObjectInfo now, stat(object.key, task));
        Result<void> outcome = read(now, offset, out, task);
        if (outcome || outcome.error().code != Code::Rewritten)
            return outcome;
    }
    return fail(Code::Transient, "the object changes again and again while it is read", std::string(object.key));
}

Result<void> ObjectReader::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext& task)
{
    return std::move(readMany({ { object, offset, out } }, task).front());
}

std::vector<Result<void>> ObjectReader::readMany(const std::vector<RangeRead>& reads, TaskContext& task)
{
    std::vector<Result<void>> outcomes(reads.size());
    std::vector<std::size_t> order;
    std::vector<std::size_t> alone; ///< that are no single request, or none at all
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const RangeRead& read = reads[i];
        outcomes[i] = checkKey(read.object.key);
        const bool isPast = read.out.empty() || read.offset > std::numeric_limits<std::uint64_t>::max() / 4;
        const bool needsBinding = read.object.identity.empty() && read.out.size() > MostRequestBytes;
        if (outcomes[i])
            (isPast || needsBinding ? alone : order).push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(reads[a].object.key, reads[a].object.identity, reads[a].offset)
            < std::tie(reads[b].object.key, reads[b].object.identity, reads[b].offset);
    });
    const std::vector<Job> jobs = planJobs(reads, order);
    std::mutex mutex;
    const std::uint64_t call = ++m_calls;
    const std::size_t count = jobs.size() + alone.size();
    runRequests(MostReadsAtOnce, count, [&](std::size_t i) {
        if (i < jobs.size())
            return runJob(jobs[i], call, outcomes, mutex, task);
        const std::size_t index = alone[i - jobs.size()];
        const RangeRead& read = reads[index];
        const bool isData = !read.out.empty() && read.offset <= std::numeric_limits<std::uint64_t>::max() / 4;
        Result<void> outcome = caught([&] {
            return isData ? readUnbound(read.object, read.offset, read.out, task)
                          : readNothing(read.object, read.offset, read.out.size(), task);
        });
        const std::lock_guard lock(mutex);
        outcomes[index] = std::move(outcome);
    });
    mendReads(reads, call, outcomes, task);
    return outcomes;
}

} // namespace deltascope::s3
