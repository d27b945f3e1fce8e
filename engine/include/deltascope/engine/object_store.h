#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/payload.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/read_ahead.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// One object as a listing or a stat shows it. Keys are relative to the store, use '/', and never start with one.
struct ObjectInfo {
    std::string key;
    std::uint64_t sizeBytes = 0;
    /// Opaque. Equal identities mean equal bytes as far as the store can tell (locally device, inode, size, mtime,
    /// ctime; elsewhere etag or content hash). A key alone never identifies bytes.
    std::string identity;
    std::int64_t modifiedUs = 0; ///< microseconds since 1970; the store's own clock
    /// Part of the object is not written yet although its size stands (a hole of a preallocated local file).
    bool hasUnwrittenPart = false;
    /// "<algorithm>:<value>" where the store gives a digest of the whole object with it, else empty. Equal ones mean
    /// equal bytes, wherever the object is.
    std::string contentHash = {};
    /// What a local folder has under the key in the place of a file: "a link that leads nowhere", "a FIFO", "a folder".
    /// Empty for what can be read.
    std::string oddity = {};

    bool operator==(const ObjectInfo&) const = default;
};

/// Which bytes are meant: those of a key, and of which identity of it. A view: what it was made from must live as long.
struct ObjectRef {
    std::string_view key;
    std::string_view identity; ///< empty: whatever the key stands for now
    std::string_view contentHash; ///< of these bytes, as in ObjectInfo; empty: not known
    /// Of the object, where it is known to be written whole.
    std::optional<std::uint64_t> sizeBytes;

    ObjectRef(const ObjectInfo& object) // NOLINT(google-explicit-constructor)
        : key(object.key)
        , identity(object.identity)
        , contentHash(object.contentHash)
        , sizeBytes(object.hasUnwrittenPart ? std::nullopt : std::optional(object.sizeBytes))
    {
    }
    ObjectRef(std::string_view anyIdentityOf) // NOLINT(google-explicit-constructor)
        : key(anyIdentityOf)
    {
    }
    ObjectRef(const std::string& anyIdentityOf) // NOLINT(google-explicit-constructor)
        : key(anyIdentityOf)
    {
    }
    ObjectRef(const char* anyIdentityOf) // NOLINT(google-explicit-constructor)
        : key(anyIdentityOf)
    {
    }
};

/// One of several reads.
struct RangeRead {
    ObjectRef object;
    std::uint64_t offset = 0;
    MutableByteSpan out; ///< is filled whole, or its outcome is an error
};

/// A stretch of an object that will be read.
struct ComingRead {
    ObjectRef object;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// The reads of a pass, about in the order in which it makes them: each call returns the next one, nothing behind the
/// last. A copy goes on by itself. One thread at a time, not always the same.
using ComingReads = std::function<std::optional<ComingRead>()>;

struct ListRequest {
    std::string prefix; ///< only keys that start with this
    std::string startAfter; ///< only keys behind this one in byte order; for paging and for incremental listings
    std::size_t maxKeys = 4096;
};

struct ListPage {
    std::vector<ObjectInfo> objects; ///< in byte order of their keys
    bool more = false; ///< ask again with startAfter = last key
};

enum class PutMode : std::uint8_t {
    Replace, ///< the new object takes the place of an old one, whole or not at all
    IfAbsent, ///< Code::Exists if there is one already
};

struct StoreTraits {
    bool conditionalPut = false; ///< PutMode::IfAbsent is atomic against other writers
    bool pushesChanges = false; ///< watch() learns of changes without polling
    /// What one request costs, as bytes that could be read in its time: weighs many small objects against a large one.
    std::uint64_t requestBytes = 0;
    bool listsFromKey = true; ///< a listing behind a key costs what it holds; else what stands in front of it, too
    /// Reads that name an identity are kept: what will be read in many small pieces is worth asking for in one batch.
    bool keepsReads = false;
    /// put() sends what can be read of a payload by now (Payload::await), several parts at a time.
    bool putsWhatComes = false;
    bool removes = false; ///< remove() is offered
    /// remove() of an identity is atomic against other writers; else the identity is compared right before.
    bool conditionalRemove = false;
    bool copies = false; ///< copy() that replaces moves no bytes through this machine
    bool freshListings = true; ///< a listing holds what was put before it began; else it may lag behind
    /// The shortest period in which one writer may put a heartbeat: what its requests cost, and quotas, allow no less.
    std::chrono::milliseconds heartbeatPeriod { 1'000 };
};

/// Bytes that a store holds and that no key stands for.
struct StrandedUpload {
    std::string key; ///< that was to be put
    std::size_t pieces = 0;
    std::uint64_t bytes = 0; ///< of them
};

/// What the reads of one identity of an object have shown of its bytes.
enum class ReadProof : std::uint8_t {
    None, ///< the store keeps no digest of the whole object that reads could be compared with
    Partial, ///< not all bytes were read yet, or not since they were last proven: what was read is unverified
    Proven, ///< all bytes were read, and together they have the digest that the store keeps
};

/// Says when a store may have changed.
class StoreWatch {
public:
    virtual ~StoreWatch() = default;
    /// Waits until something may have changed (true) or the time is over (false). Spurious true is allowed, a missed
    /// change is not. Errors: Canceled, Io.
    virtual Result<bool> wait(std::chrono::milliseconds timeout, TaskContext& task) = 0;
};

/// A bucket: local folder, S3, Hugging Face. Implementations guarantee read after write, and puts that become visible
/// whole or not at all; StoreTraits says what they promise beyond that.
/// All methods may be called from any thread, and end soon with Code::Canceled when their task is asked to stop.
/// Codes: Usage (see checkKey), NotFound, Auth, Exists, NoSpace, Truncated, Rewritten, Transient (worth retrying), Io,
/// Canceled.
class ObjectStore {
public:
    virtual ~ObjectStore() = default;

    /// The canonical address: "file:///abs/dir".
    virtual std::string uri() const = 0;
    virtual StoreTraits traits() const noexcept = 0;
    /// The fixed state that all reads are of: the commit of a model repository. Empty: what is there at the time of
    /// each read. Errors: those of asking for it.
    virtual Result<std::string> revision(TaskContext& task) const;

    /// One page of keys. A failure is an error, never an empty page.
    virtual Result<ListPage> list(const ListRequest& request, TaskContext& task) const = 0;
    virtual Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const = 0;
    /// Fills all of `out` from byte `offset`. An object that ends before is Code::Truncated, never a short read; one
    /// that has another identity than the one that was asked for is Code::Rewritten, and nothing of it counts. A store
    /// that keeps what it has read may give the bytes of that identity after another process has replaced them.
    virtual Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                              TaskContext& task) const = 0;
    /// As many reads, each with its own outcome, in the order of `reads`. Stores whose requests take time run them at
    /// the same time; others one after the other.
    virtual std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const;
    /// Fetches what a pass will read while it works, as far as the store keeps reads (StoreTraits::keepsReads) and has
    /// room for what nobody has read yet; the result ends it. A failure ends it, too, and the read that needs those
    /// bytes reports it. What `reads` refers to and `task` outlive the result.
    virtual ReadsAhead readAhead(ComingReads reads, TaskContext& task) const;
    /// What this store's reads of the identity have shown by now. A read that shows that bytes are wrong is
    /// Code::Digest, and what was shown before it is forgotten, so that they can be read again.
    virtual ReadProof proofOf(const ObjectRef& object) const;
    /// Drops what the store keeps of its reads of the object, since something speaks against their bytes: the next read
    /// is asked of whoever holds them.
    virtual void forget(const ObjectRef& object) const;
    /// Whether a folder of this name exists and nothing is in it. Always false in stores that have no folders.
    virtual Result<bool> hasEmptyFolder(std::string_view key, TaskContext& task) const;
    /// Whether the key is a link to a file that is not part of this store. The blobs of a repository in the cache of
    /// the Hugging Face Hub are part of its snapshots. Always false in stores that have no links.
    virtual Result<bool> leadsOutside(std::string_view key, TaskContext& task) const;
    virtual Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) = 0;
    virtual Result<std::unique_ptr<StoreWatch>> watch() const = 0;

    /// Removes objects, each with its own outcome, in the order of `objects`. A ref that names an identity removes that
    /// identity alone: Rewritten where the key stands for another one (StoreTraits::conditionalRemove). NotFound where
    /// there is no such object; of several refs without an identity, a store may count it as removed. Stores that can
    /// send one request for many do. Errors: also Unsupported (StoreTraits::removes).
    virtual std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task);
    /// A second object with the bytes of `from`. Here by reading into a nameless local file and putting; stores that
    /// can copy without that do where `mode` is Replace (StoreTraits::copies). Errors: those of stat, read and put.
    virtual Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task);
    /// Removes what puts of processes that have ended left half-written in the folders for whose key `enters` answers
    /// true ("" is the store itself, others have no slash at their end); a folder that is not entered hides all below.
    /// Processes are looked for on this machine alone: only for folders where nobody else may be writing. Returns how
    /// many it removed. Errors: Canceled, Auth, Io, Unsupported.
    virtual Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                                  TaskContext& task);
    /// What puts of this machine that ended early have sent and only the store can remove: xorbs. Leaves out puts under
    /// way, and those whose bytes were put since. `forget`: later calls leave these out. Errors: Canceled, Auth, Io.
    virtual Result<std::vector<StrandedUpload>> stranded(bool forget, TaskContext& task);
};

/// ObjectStore::remove() of one.
Result<void> removeOne(ObjectStore& store, const ObjectRef& object, TaskContext& task);

/// That the object cannot be read, because it is no file (ObjectInfo::oddity). NotFound.
Error noFileError(const ObjectInfo& object);

/// What every store demands of a key, before anything else: components between single '/', none of them empty, "." or
/// ".."; no NUL. Errors: Usage.
Result<void> checkKey(std::string_view key);

/// Told what a listing holds by now, after each of its pages.
using ListingSeen = std::function<void(const std::vector<ObjectInfo>& objects)>;

/// All pages of a listing; an error in any page discards the whole listing. ListSuspect if the pages are out of order
/// or hold keys that were not asked for.
Result<std::vector<ObjectInfo>> listAll(const ObjectStore& store, std::string_view prefix, TaskContext& task,
                                        const ListingSeen& seen = {});

/// listAll() of the keys behind `startAfter`.
Result<std::vector<ObjectInfo>> listFrom(const ObjectStore& store, std::string_view prefix, std::string_view startAfter,
                                         TaskContext& task, const ListingSeen& seen = {});

/// Reads a whole object of at most `limitBytes`. Errors: those of stat and read; Hostile if it is larger, Transient if
/// it changed meanwhile.
Result<std::vector<std::byte>> readWhole(const ObjectStore& store, std::string_view key, std::uint64_t limitBytes,
                                         TaskContext& task);

/// The store of a local folder. Errors: Usage (a file), NotFound, Auth.
Result<std::unique_ptr<ObjectStore>> openLocalStore(const std::string& folder);

} // namespace deltascope
