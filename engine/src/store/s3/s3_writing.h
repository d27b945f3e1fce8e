#pragma once

#include "../upload_journal.h"
#include "body_digests.h"
#include "deltascope/engine/object_store.h"
#include "s3_client.h"
#include "s3_reading.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace deltascope::s3 {

/// Puts objects: small ones by one PUT, others in parts. All bytes are digested before they are sent, and the digests
/// sent along, so that the server refuses bytes that were changed on the way. Any thread.
class ObjectWriter {
public:
    ObjectWriter(S3Client& client, ObjectReader& reader, std::string journalFolder)
        : m_client(client)
        , m_reader(reader)
        , m_journal(std::move(journalFolder))
    {
    }

    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task);
    /// Server-side, of at most 5 GiB. Errors: Rewritten, NotFound, Unsupported (larger), those of the client.
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, TaskContext& task);
    /// Aborts uploads of ended processes that our own journal names, where `enters` allows it for all folders of the
    /// key.
    Result<std::size_t> abortOrphans(const std::function<bool(std::string_view folder)>& enters, TaskContext& task);

private:
    /// One upload in parts.
    struct Upload {
        std::string key;
        std::string id;
        std::uint64_t sizeBytes = 0;
        std::uint64_t partBytes = 0;
        bool hasChecksums = false;
        std::vector<BodyDigests> digests; ///< of each part
        std::vector<std::string> etags;
    };

    Result<ObjectInfo> putWhole(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task);
    Result<ObjectInfo> putInParts(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task);
    Result<void> refuseExisting(std::string_view key, TaskContext& task);
    Result<Upload> begin(std::string_view key, std::uint64_t sizeBytes, TaskContext& task);
    Result<void> sendParts(Upload& upload, const Payload& bytes, TaskContext& task);
    Result<void> sendPart(Upload& upload, const Payload& bytes, std::size_t index, TaskContext& task);
    Result<ObjectInfo> complete(const Upload& upload, const Payload& bytes, PutMode mode, TaskContext& task);
    static PayloadSlice partOf(const Upload& upload, const Payload& bytes, std::size_t index);
    /// What the ETag should be. Reads the bytes again where no MD5 was needed for sending them.
    static Result<std::string> wholeEtag(const Upload& upload, const Payload& bytes, TaskContext& task);
    Result<void> abort(std::string_view key, const std::string& uploadId, TaskContext& task);

    Result<http::Response> sendBody(Call& call, const BodyDigests& digests, http::Sender& sender, bool withChecksum,
                                    TaskContext& task);
    Result<ObjectInfo> placed(std::string_view key, std::uint64_t sizeBytes, std::string etag,
                              const http::Response& response, TaskContext& task);
    /// The object if it is what we were putting: after an answer that was lost. `etag`: what it should be; asked for
    /// where the server tells no CRC-64.
    Result<std::optional<ObjectInfo>> findOurs(std::string_view key, std::uint64_t sizeBytes,
                                               const std::function<Result<std::string>()>& etag, std::uint64_t crc64,
                                               TaskContext& task);
    Call callOf(std::string action, std::string method, std::string_view key) const;

    S3Client& m_client;
    ObjectReader& m_reader;
    const UploadJournal m_journal;
    std::atomic<bool> m_takesChecksums = true; ///< until the server refuses x-amz-checksum-crc64nvme
};

/// Bytes of each part: at least 8 MiB, a whole number of MiB, and so many that 10,000 parts are enough.
std::uint64_t partBytesFor(std::uint64_t sizeBytes) noexcept;

/// Objects up to this are put by one request.
inline constexpr std::uint64_t MostWholeBytes = std::uint64_t { 16 } << 20;

} // namespace deltascope::s3
