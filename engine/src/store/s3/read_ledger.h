#pragma once

#include "deltascope/base/result.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::s3 {

/// The checksums of a whole object that a server names (x-amz-checksum-…). Those of parts ("COMPOSITE", "…-3") count as
/// none. Source: Amazon S3 user guide, "Checking object integrity".
struct WholeChecksums {
    std::optional<std::uint64_t> crc64; ///< CRC-64/NVME
    std::optional<std::uint32_t> crc32;
    std::string sha256; ///< base64; empty: none

    bool hasAny() const noexcept { return crc64 || crc32 || !sha256.empty(); }
    bool hasCrc() const noexcept { return crc64 || crc32; }
};
WholeChecksums checksumsOf(const http::Headers& headers);

/// An object whose reads, together, do not have the checksum that the store keeps.
struct RefutedReads {
    /// What one read brought.
    struct Piece {
        std::uint64_t bytes = 0;
        std::uint64_t crc64 = 0;
        std::uint32_t crc32 = 0;
        std::uint64_t call = 0; ///< that it was read by
        std::string sha256; ///< base64; only where nothing else can be compared

        void append(const Piece& tail);
    };
    std::string identity;
    WholeChecksums told;
    std::map<std::uint64_t, Piece> pieces; ///< by offset; they cover the object

    /// Whether the pieces have the checksum.
    bool isRight() const;
};

/// Remembers the CRC of what was read of each identity, across reads in any order, and compares when all was seen once;
/// then another pass begins. Of what is read again before, only bytes that were not seen are counted. Any thread.
/// Bounded: the objects that were added first are forgotten.
class ReadLedger {
public:
    explicit ReadLedger(std::size_t mostObjects = 4096)
        : m_mostObjects(mostObjects)
    {
    }

    /// `bytes` were read at `offset` of an object of `totalBytes`. Returns whether the object is complete and its
    /// checksum has yet to be learned. Errors: Digest: some of what was read of the object since it was last proven or
    /// forgotten is not what was put; it is forgotten, so that it can be read again.
    /// `call`: several reads that their caller can make again; each has a number of its own.
    Result<bool> add(const ObjectRef& object, std::uint64_t totalBytes, std::uint64_t offset, ByteSpan bytes,
                     const WholeChecksums& told, std::uint64_t call = 0);
    /// What the server says of an identity; nothing: it has no checksum. Errors: as above.
    Result<void> learn(const ObjectRef& object, const WholeChecksums& told);
    ReadProof proofOf(const ObjectRef& object) const;

    /// What a Digest of this object was about, of any identity of it if none is named; once.
    std::optional<RefutedReads> takeRefuted(const ObjectRef& object);
    /// The reads were made again, and all of them are right now.
    void noteProven(const ObjectRef& object, std::uint64_t totalBytes, const WholeChecksums& told);
    /// The CRCs of bytes; without CRC-32 if it is not needed.
    static RefutedReads::Piece pieceOf(ByteSpan bytes, bool needsCrc32);

private:
    using Piece = RefutedReads::Piece;
    struct Entry {
        std::uint64_t totalBytes = 0;
        bool wasProven = false; ///< at the end of the pass before
        bool isUnprovable = false;
        WholeChecksums told; ///< with a CRC-64, CRC-32 is of no interest
        bool wasAsked = false;
        std::map<std::uint64_t, Piece> pieces; ///< of this pass, by offset; disjoint
        std::uint64_t coveredBytes = 0; ///< by the pieces
    };
    struct Gap {
        std::uint64_t offset;
        std::uint64_t bytes;
    };

    Entry& entryOf(const std::string& name);
    static std::vector<Gap> gapsOf(const Entry& entry, std::uint64_t offset, std::uint64_t bytes);
    static void insert(Entry& entry, std::uint64_t offset, const Piece& piece);
    static void joinNeighbours(Entry& entry);
    void refute(const std::string& name, RefutedReads reads);
    Result<bool> judge(const std::string& name, Entry& entry, std::string_view key);

    const std::size_t m_mostObjects;
    mutable std::mutex m_mutex; ///< guards what follows
    std::map<std::string, Entry> m_entries; ///< by key and identity
    std::deque<std::string> m_order;
    std::map<std::string, RefutedReads> m_refuted;
};

} // namespace deltascope::s3
