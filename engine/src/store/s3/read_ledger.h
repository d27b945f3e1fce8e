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
    Result<bool> add(const ObjectRef& object, std::uint64_t totalBytes, std::uint64_t offset, ByteSpan bytes,
                     const WholeChecksums& told);
    /// What the server says of an identity; nothing: it has no checksum. Errors: as above.
    Result<void> learn(const ObjectRef& object, const WholeChecksums& told);
    ReadProof proofOf(const ObjectRef& object) const;

private:
    struct Piece {
        std::uint64_t bytes = 0;
        std::uint64_t crc64 = 0;
        std::uint32_t crc32 = 0;
    };
    struct Entry {
        std::uint64_t totalBytes = 0;
        bool wasProven = false; ///< at the end of the pass before
        bool isUnprovable = false;
        WholeChecksums told; ///< with a CRC-64, CRC-32 is of no interest
        bool wasAsked = false;
        std::map<std::uint64_t, Piece> pieces; ///< of this pass, by offset; disjoint, and neighbours are joined
    };
    struct Gap {
        std::uint64_t offset;
        std::uint64_t bytes;
    };

    static Piece pieceOf(ByteSpan bytes, bool needsCrc32);
    Entry& entryOf(const std::string& name);
    static std::vector<Gap> gapsOf(const Entry& entry, std::uint64_t offset, std::uint64_t bytes);
    static void insert(Entry& entry, std::uint64_t offset, const Piece& piece);
    static void joinNeighbours(Entry& entry, std::map<std::uint64_t, Piece>::iterator at);
    Result<bool> judge(const std::string& name, Entry& entry, std::string_view key);

    const std::size_t m_mostObjects;
    mutable std::mutex m_mutex; ///< guards what follows
    std::map<std::string, Entry> m_entries; ///< by key and identity
    std::deque<std::string> m_order;
};

} // namespace deltascope::s3
