#include "store/xet/reader.h"

#include "deltascope/engine/parallel.h"
#include "store/xet/byte_budget.h"
#include "store/xet/describe.h"
#include "store/xet/ledger.h"
#include "store/xet/piece_decode.h"
#include "store/xet/read_plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace deltascope::xet {

namespace {

constexpr int MostRefusedAddresses = 3; ///< of one cluster, before its reads fail

/// A cluster while it is read.
struct ClusterRead {
    ReadCluster cluster;
    std::uint64_t since = 0; ///< by the ledger: when it began
    std::vector<PieceFetch> fetches;
    std::vector<PlacedTerm> refused; ///< terms whose signed address was refused
    std::optional<Error> error; ///< the first one
};

}

class Reader::Core {
public:
    Core(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access, const ReaderOptions& options)
        : m_options(options)
        , m_cas(std::move(sender), std::move(access))
        , m_describer(m_cas)
        , m_budget(options.bytesInFlight)
        , m_ledger(options.ledgerChunks)
    {
    }

    std::vector<Result<void>> readMany(const std::vector<FileRange>& ranges, TaskContext& task);
    Ledger& ledger() noexcept { return m_ledger; }

private:
    std::vector<Result<void>> readOnce(const std::vector<FileRange>& ranges, TaskContext& task);
    /// Whether a file that was refuted comes right now: why what was read of it is wrong.
    Error whyRefuted(const FileRange& range, TaskContext& task);
    Result<void> check(const FileRange& range, std::uint64_t since) const;
    /// Reads clusters to their end. Errors go to the outcomes of their ranges.
    void readBatch(std::vector<ReadCluster> clusters, std::uint64_t since, std::vector<Result<void>>& outcomes,
                   TaskContext& task);
    void plan(ClusterRead& read, TaskContext& task);
    void runFetches(std::vector<ClusterRead>& reads, TaskContext& task);
    void runFetch(ClusterRead& read, const PieceFetch& fetch, std::mutex& mutex, TaskContext& task);
    /// False: the signed address was refused.
    Result<bool> fetchBody(const Piece& piece, MutableByteSpan body, TaskContext& task);

    const ReaderOptions m_options;
    CasClient m_cas;
    Describer m_describer;
    ByteBudget m_budget;
    Ledger m_ledger;
};

std::vector<Result<void>> Reader::Core::readMany(const std::vector<FileRange>& ranges, TaskContext& task)
{
    std::vector<Result<void>> outcomes = readOnce(ranges, task);
    std::map<Hash, Error> refuted;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (outcomes[i] || outcomes[i].error().code != Code::Digest)
            continue;
        auto known = refuted.find(ranges[i].file);
        if (known == refuted.end())
            known = refuted.emplace(ranges[i].file, whyRefuted(ranges[i], task)).first;
        outcomes[i] = fail(known->second);
    }
    return outcomes;
}

Error Reader::Core::whyRefuted(const FileRange& range, TaskContext& task)
{
    constexpr int MostTurns = 3;
    constexpr std::uint64_t MostBytesAtOnce = std::uint64_t { 16 } << 20;
    std::vector<std::byte> room(static_cast<std::size_t>(std::min(range.fileBytes, MostBytesAtOnce)));
    for (int turn = 0; turn < MostTurns; ++turn) {
        Result<void> outcome;
        for (std::uint64_t at = 0; outcome && at < range.fileBytes; at += MostBytesAtOnce) {
            const MutableByteSpan part =
                MutableByteSpan(room).first(static_cast<std::size_t>(std::min(range.fileBytes - at, MostBytesAtOnce)));
            outcome = readOnce({ { range.file, range.fileBytes, at, part } }, task).front();
        }
        if (!outcome && outcome.error().code != Code::Digest)
            return outcome.error();
        if (outcome && m_ledger.proofOf(range.file, range.fileBytes) == Proof::Proven) {
            task.addNotice({ Code::Refetched, "bytes of it came wrong, as its hash proves, and were fetched again",
                             range.file.text(), std::nullopt,
                             "Nothing has to be done; if it happens often, check the network and the memory of this "
                             "machine." });
            return { Code::Digest, "what was read of it came wrong, as its hash proves, and comes right now",
                     range.file.text(), std::nullopt, "Run the command again." };
        }
    }
    return { Code::Digest, "the bytes that come are not those of the file with this hash, each time that it is read",
             range.file.text(), std::nullopt,
             "The file or the way to it is damaged: put it again from where it was published." };
}

std::vector<Result<void>> Reader::Core::readOnce(const std::vector<FileRange>& ranges, TaskContext& task)
{
    constexpr std::uint64_t MostBatchBytes = std::uint64_t { 1 } << 30;
    constexpr std::size_t MostBatchClusters = 64;
    std::vector<Result<void>> outcomes;
    std::vector<bool> isLeftOut;
    const std::uint64_t begin = m_ledger.now();
    for (const FileRange& range : ranges) {
        outcomes.push_back(check(range, begin));
        isLeftOut.push_back(!outcomes.back() || range.out.empty());
    }
    std::vector<ReadCluster> batch;
    std::uint64_t batchBytes = 0;
    for (ReadCluster& cluster : clusterRanges(ranges, isLeftOut)) {
        const std::uint64_t bytes = cluster.end() - cluster.begin();
        if (!batch.empty() && (batch.size() == MostBatchClusters || batchBytes + bytes > MostBatchBytes)) {
            readBatch(std::exchange(batch, {}), begin, outcomes, task);
            batchBytes = 0;
        }
        batchBytes += bytes;
        batch.push_back(std::move(cluster));
    }
    readBatch(std::move(batch), begin, outcomes, task);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (outcomes[i] && !isLeftOut[i])
            outcomes[i] = m_ledger.check(ranges[i].file, ranges[i].fileBytes, begin); // by any part of it
    }
    return outcomes;
}

Result<void> Reader::Core::check(const FileRange& range, std::uint64_t since) const
{
    if (range.offset > range.fileBytes || range.out.size() > range.fileBytes - range.offset)
        return fail(Code::Truncated, "the file ends before the bytes that were asked for", range.file.text());
    return m_ledger.check(range.file, range.fileBytes, since);
}

void Reader::Core::readBatch(std::vector<ReadCluster> clusters, std::uint64_t since,
                             std::vector<Result<void>>& outcomes, TaskContext& task)
{
    while (!clusters.empty()) {
        std::vector<ClusterRead> reads;
        for (ReadCluster& cluster : clusters)
            reads.push_back({ std::move(cluster), since, {}, {}, std::nullopt });
        clusters.clear();
        const Result<void> planned = forEachParallel(m_options.threads, reads.size(), task, [&](std::size_t i) {
            plan(reads[i], task);
            return Result<void>();
        });
        if (planned)
            runFetches(reads, task);
        for (ClusterRead& read : reads) {
            if (!planned && !read.error)
                read.error = planned.error();
            if (!read.error && read.refused.empty())
                continue;
            auto rest = read.error ? std::nullopt : restOfCluster(read.cluster, read.refused);
            if (rest) {
                clusters.push_back(std::move(*rest));
                continue;
            }
            for (const WantedBytes& part : read.cluster.parts) {
                if (outcomes[part.range] && read.error)
                    outcomes[part.range] = fail(*read.error);
            }
        }
    }
}

void Reader::Core::plan(ClusterRead& read, TaskContext& task)
{
    const ReadCluster& cluster = read.cluster;
    // A signed v2 address may be meant for all its ranges at once; v1 signs each by itself.
    const auto form = cluster.attempt < 2 ? ReconstructionForm::V2 : ReconstructionForm::V1;
    auto described = m_describer.describe(cluster.file, cluster.begin(), cluster.end(), form, task);
    auto fetches = described ? planFetches(cluster, std::move(*described))
                             : Result<std::vector<PieceFetch>>(fail(described.error()));
    if (fetches)
        read.fetches = std::move(*fetches);
    else
        read.error = std::move(fetches.error());
}

void Reader::Core::runFetches(std::vector<ClusterRead>& reads, TaskContext& task)
{
    std::vector<std::pair<std::size_t, std::size_t>> all; // read, and fetch in it
    for (std::size_t i = 0; i < reads.size(); ++i) {
        for (std::size_t k = 0; k < reads[i].fetches.size(); ++k)
            all.emplace_back(i, k);
    }
    std::mutex mutex;
    const Result<void> outcome = forEachParallel(m_options.threads, all.size(), task, [&](std::size_t i) {
        ClusterRead& read = reads[all[i].first];
        runFetch(read, read.fetches[all[i].second], mutex, task);
        return Result<void>();
    });
    for (ClusterRead& read : reads) {
        if (!outcome && !read.error)
            read.error = outcome.error();
    }
}

void Reader::Core::runFetch(ClusterRead& read, const PieceFetch& fetch, std::mutex& mutex, TaskContext& task)
{
    {
        const std::lock_guard lock(mutex);
        if (read.error)
            return;
    }
    const ReadCluster& cluster = read.cluster;
    bool isRefused = false;
    const auto outcome = [&]() -> Result<void> {
        DS_TRY(const ByteBudget::Buffer buffer, m_budget.lend(fetch.piece.bytes, task));
        const MutableByteSpan body(buffer.data(), fetch.piece.bytes);
        DS_TRY(const bool isThere, fetchBody(fetch.piece, body, task));
        isRefused = !isThere;
        if (isRefused)
            return {};
        DS_TRY(const std::vector<PlacedChunk> chunks, decodePiece(fetch, body, cluster.parts, task));
        return m_ledger.add(cluster.file, cluster.fileBytes, chunks, read.since);
    }();
    const std::lock_guard lock(mutex);
    if (!outcome && !read.error)
        read.error = outcome.error();
    if (!isRefused)
        return;
    if (cluster.attempt < MostRefusedAddresses)
        read.refused.insert(read.refused.end(), fetch.terms.begin(), fetch.terms.end());
    else if (!read.error)
        read.error = Error { Code::Auth,
                             "the addresses that the store signs are refused, again and again",
                             cluster.file.text(),
                             std::nullopt,
                             {} };
}

Result<bool> Reader::Core::fetchBody(const Piece& piece, MutableByteSpan body, TaskContext& task)
{
    constexpr int Refused = 403;
    constexpr int PartialContent = 206;
    http::Request request;
    request.url = piece.url;
    request.range = http::ByteRange { piece.offset, piece.bytes };
    request.destination = body;
    DS_TRY(const http::Response response, m_cas.sendSigned(Scope::Read, request, task));
    if (response.status == Refused)
        return false;
    if (!response.isGood())
        return fail(http::errorOfStatus(response.status, piece.url));
    if (response.status != PartialContent)
        return fail(Code::Hostile, "the store sends other bytes of a xorb than it was asked for", piece.xorb.text());
    if (response.takenBytes != piece.bytes)
        return fail(Code::Truncated, "a xorb ends before the bytes that the store says it holds", piece.xorb.text());
    return true;
}

Reader::Reader(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access, const ReaderOptions& options)
    : m_core(std::make_unique<Core>(std::move(sender), std::move(access), options))
{
}

Reader::~Reader() = default;

Result<void> Reader::read(const Hash& file, std::uint64_t fileBytes, std::uint64_t offset, MutableByteSpan out,
                          TaskContext& task)
{
    return readMany({ { file, fileBytes, offset, out } }, task).front();
}

std::vector<Result<void>> Reader::readMany(const std::vector<FileRange>& ranges, TaskContext& task)
{
    return m_core->readMany(ranges, task);
}

Proof Reader::proofOf(const Hash& file, std::uint64_t fileBytes) const
{
    return m_core->ledger().proofOf(file, fileBytes);
}

} // namespace deltascope::xet
