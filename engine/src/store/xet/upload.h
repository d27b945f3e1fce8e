#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/payload.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/http_retry.h"
#include "store/xet/access.h"
#include "store/xet/hash.h"
#include "store/xet/known_chunks.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace deltascope::xet {

struct UploadOptions {
    unsigned threads = 0; ///< that hash and compress; 0: as many as the machine has, at most 8
    unsigned sends = 2; ///< xorbs on their way at once, beside the one that is being filled
    std::uint32_t xorbBytes = std::uint32_t { 16 } << 20; ///< before compression, at most 64 MiB
    bool compresses = true;
    /// A shard is sent before commit() when its rows would take more than this.
    std::size_t shardBytes = std::size_t { 16 } << 20;
    /// Waits before a shard is sent again because the store says so in its answer.
    std::shared_ptr<http::RetryClock> clock = http::systemRetryClock();
    /// Told before a xorb of so many bytes is sent, by several threads; an error ends the session. May be empty.
    std::function<Result<void>(const Hash& xorb, std::uint64_t bytes)> onXorb = {};
};

/// What a bucket has to be told about a file.
struct FileEntry {
    Hash hash; ///< zero for an empty file
    std::uint64_t bytes = 0;

    bool operator==(const FileEntry&) const = default;
};

/// Brings the bytes of files into a content-addressed store: cut into chunks, without those that it has already, packed
/// into xorbs, which are sent in the background. After commit() the store knows the files, and a bucket may point to
/// them; nothing is promised before. Whatever ends a session early leaves only bytes that no file needs.
///
/// Memory: (sends + 1) xorbs of at most `xorbBytes` and 64 KiB each, three blocks of 8 MiB and as much compressed, the
/// rows of one shard (48 bytes a chunk; they also serve to find chunks again), and what KnownChunks allows. One thread
/// at a time. An error ends the session: every later call returns it. Errors of all calls: Auth, NotFound, NoSpace,
/// Transient, Io, Hostile (an answer that makes no sense), Canceled; and those of the Payload.
class Upload {
public:
    /// `sender` should be one that repeats requests (http_retry.h): all that is sent may be carried out twice.
    /// `known`: chunks that earlier sessions left in the same bucket; may be null.
    Upload(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access,
           std::shared_ptr<KnownChunks> known = nullptr, const UploadOptions& options = {});
    /// Stops what is on its way.
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    /// A whole file. Not between append() and finish().
    Result<FileEntry> add(const Payload& file, TaskContext& task);

    /// The next bytes of the current file.
    Result<void> append(ByteSpan bytes, TaskContext& task);
    /// The current file ends; without append() before it is an empty one.
    Result<FileEntry> finish(TaskContext& task);

    /// Waits until everything that was added is in the store and registered there. More files may follow, and another
    /// commit(). Transient, too, if the store has lost what earlier sessions left there: `known` forgets it, and a new
    /// session sends it again.
    Result<void> commit(TaskContext& task);

    /// Serialized bytes of the xorbs that were sent so far, repetitions not counted.
    std::uint64_t sentBytes() const;

private:
    class Core;
    std::unique_ptr<Core> m_core;
};

} // namespace deltascope::xet
