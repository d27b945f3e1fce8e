#pragma once

#include "deltascope/engine/object_store.h"
#include "read_ledger.h"
#include "s3_client.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace deltascope::s3 {

/// Version ids that replies named, by key and identity. In a bucket that keeps versions, what was overwritten can still
/// be read by them. Any thread. Bounded.
class KnownVersions {
public:
    void note(const ObjectRef& object, const http::Headers& headers);
    /// Empty: none is known.
    std::string versionOf(const ObjectRef& object) const;

private:
    mutable std::mutex m_mutex;
    std::unordered_map<std::string, std::string> m_versions;
};

/// Reads objects of a bucket by ranged GETs that are bound to an identity (an ETag). Any thread.
class ObjectReader {
public:
    explicit ObjectReader(S3Client& client)
        : m_client(client)
    {
    }

    /// By HEAD. `told`: takes the checksums that the store keeps of it. Errors: NotFound, those of the client.
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task, WholeChecksums* told = nullptr);
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext& task);
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task);

    ReadProof proofOf(const ObjectRef& object) const { return m_ledger.proofOf(object); }
    void noteVersion(const ObjectRef& object, const http::Headers& headers) { m_versions.note(object, headers); }

private:
    /// Part of a read.
    struct Piece {
        std::size_t read = 0; ///< index of its read
        std::uint64_t offset = 0;
        MutableByteSpan out;
    };
    /// One request: pieces of one object, close together.
    struct Job {
        ObjectRef object { std::string_view() };
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::vector<Piece> pieces; ///< by offset; they may overlap
    };
    struct RangeReply {
        std::uint64_t gotBytes = 0; ///< from the front of the range; fewer where the object ends before
        std::uint64_t totalBytes = 0;
        std::string identity;
        WholeChecksums told;
    };
    class ScatterSink;

    static std::vector<Job> planJobs(const std::vector<RangeRead>& reads, const std::vector<std::size_t>& order);
    void runJob(const Job& job, std::uint64_t call, std::vector<Result<void>>& outcomes, std::mutex& mutex,
                TaskContext& task);
    Result<void> countPiece(const Job& job, std::uint64_t call, const RangeReply& reply, const Piece& piece,
                            TaskContext& task);
    /// Reads of a call that the checksum of their object refutes are made again; their outcomes are replaced.
    void mendReads(const std::vector<RangeRead>& reads, std::uint64_t call, std::vector<Result<void>>& outcomes,
                   TaskContext& task);
    Result<void> mend(const ObjectRef& object, RefutedReads refuted, std::uint64_t call,
                      const std::vector<RangeRead>& reads, TaskContext& task);
    Result<RefutedReads::Piece> readPieceAgain(const ObjectRef& object, std::uint64_t offset, std::uint64_t bytes,
                                               const std::vector<RangeRead>& into, TaskContext& task);
    Result<void> readUnbound(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext& task);
    Result<void> readNothing(const ObjectRef& object, std::uint64_t offset, std::uint64_t bytes, TaskContext& task);
    Result<RangeReply> getRange(const ObjectRef& object, http::ByteRange range, const http::Destination& to,
                                TaskContext& task, bool isRetry = false);
    Result<RangeReply> rangeReply(const Call& call, const ObjectRef& object, http::ByteRange range,
                                  http::Response& response, TaskContext& task);
    Result<http::Response> getElsewhere(const Call& call, const http::Response& redirect, TaskContext& task);
    Result<http::Response> head(const ObjectRef& object, TaskContext& task);
    /// What a refused GET or HEAD means. An answer to HEAD has no words, so the reason is asked for once more.
    Error whyNotRead(const Call& call, const http::Response& response, TaskContext& task);
    Result<void> learnChecksum(const ObjectRef& object, TaskContext& task);
    Call callOf(std::string action, std::string method, const ObjectRef& object) const;

    S3Client& m_client;
    ReadLedger m_ledger;
    KnownVersions m_versions;
    std::atomic<std::uint64_t> m_calls = 0; ///< of readMany
    std::atomic<int> m_withoutChecksum = 0; ///< objects in a row of which the store keeps none
};

/// The key in the bucket of a key of the store.
std::string bucketKeyOf(const S3Settings& settings, std::string_view key);

} // namespace deltascope::s3
