#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/http.h"
#include "store/xet/access.h"
#include "store/xet/hash.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope::xet {

struct ReaderOptions {
    unsigned threads = 8; ///< requests at once, and threads that decode what they bring
    /// Serialized bytes of xorbs in memory at once, over all reads. One range of a xorb is always let in, alone if need
    /// be; none is longer than 64 MiB.
    std::uint64_t bytesInFlight = std::uint64_t { 128 } << 20;
    /// Chunks whose hashes are kept to prove files (about 100 bytes each): 2^20 are files of some 64 GiB together.
    /// Beyond that the file that was not read for longest is forgotten: it is unread again, never proven by mistake.
    std::size_t ledgerChunks = std::size_t { 1 } << 20;
};

/// What is known about the bytes that were read of a file.
enum class Proof : std::uint8_t {
    Unread, ///< nothing was read, or it was forgotten
    Partial, ///< what was read hashes to something, but nothing says that it belongs to the file
    Proven, ///< all chunks of the file were read, and together they have the hash of the file
    Refuted, ///< they had another one, or contradicted each other, and nothing was read since
};

/// One of several reads.
struct FileRange {
    Hash file;
    std::uint64_t fileBytes = 0; ///< the size of the whole file as the bucket lists it
    std::uint64_t offset = 0;
    MutableByteSpan out; ///< is filled whole, or its outcome is an error
};

/// Reads files out of a content-addressed store. Every chunk that is decoded is hashed. The hashes of a file are
/// collected over all reads; once they cover it, they must give the hash of the file, and from then on each chunk is
/// compared with what was proven. A read of part of a file cannot be proven by itself: proofOf() says what holds.
///
/// Memory: what ReaderOptions says, and the answers that describe ranges (at most 1 GiB of file is described at a
/// time). Any thread. No CAS request is made for an empty file or an empty range.
class Reader {
public:
    /// `sender` should be one that repeats requests (http_retry.h).
    Reader(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access,
           const ReaderOptions& options = {});
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Fills all of `out` from byte `offset`. Errors: Truncated (the file ends before, or is longer than `fileBytes`),
    /// Digest (its bytes are not those of `file`, and it is not known which: what was read of it before this read is as
    /// doubtful, unless the file was proven), NotFound, Auth, Hostile (an answer breaks the rules of its format),
    /// Unsupported (a compression this build does not know), Transient, Io, Canceled.
    Result<void> read(const Hash& file, std::uint64_t fileBytes, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task);
    /// As many reads at the same time, each with its own outcome, in the order of `ranges`. Ranges of one file that are
    /// near each other are asked for together.
    std::vector<Result<void>> readMany(const std::vector<FileRange>& ranges, TaskContext& task);

    Proof proofOf(const Hash& file, std::uint64_t fileBytes) const;

private:
    class Core;
    std::unique_ptr<Core> m_core;
};

} // namespace deltascope::xet
