#pragma once

#include "deltascope/base/address.h"
#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <chrono>
#include <cstdint>
#include <memory>
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

    bool operator==(const ObjectInfo&) const = default;
};

struct ListRequest {
    std::string prefix; ///< only keys that start with this
    std::string startAfter; ///< only keys behind this one in byte order; for paging and for incremental listings
    std::size_t maxKeys = 4096;
};

struct ListPage {
    std::vector<ObjectInfo> objects; ///< in byte order of their keys
    bool more = false; ///< ask again with startAfter = last key
};

/// Bytes on their way into a store.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t sizeBytes() const noexcept = 0;
    /// Fills the front of `out`; returns how much, 0 at the end.
    virtual Result<std::size_t> read(MutableByteSpan out) = 0;
};

/// A ByteSource over memory that the caller keeps alive.
class MemorySource final : public ByteSource {
public:
    explicit MemorySource(ByteSpan bytes)
        : m_bytes(bytes)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes.size(); }
    Result<std::size_t> read(MutableByteSpan out) override;

private:
    ByteSpan m_bytes;
    std::size_t m_at = 0;
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
};

/// Says when a store may have changed.
class StoreWatch {
public:
    virtual ~StoreWatch() = default;
    /// Waits until something may have changed (true) or the time is over (false). Spurious true is allowed, a missed
    /// change is not. Errors: Canceled, Io.
    virtual Result<bool> wait(std::chrono::milliseconds timeout, TaskContext& task) = 0;
};

/// A bucket: local folder, S3, Hugging Face. Implementations guarantee read after write, puts that become visible whole
/// or not at all, and listings that hold what was put before.
/// All methods may be called from any thread. No store retries by itself; retry, cache and throttle are decorators.
/// Codes: Usage (see checkKey), NotFound, Auth, Exists, NoSpace, Truncated, Transient (worth retrying), Io, Canceled.
class ObjectStore {
public:
    virtual ~ObjectStore() = default;

    /// The canonical address: "file:///abs/dir".
    virtual std::string uri() const = 0;
    virtual StoreTraits traits() const noexcept = 0;

    /// One page of keys. A failure is an error, never an empty page.
    virtual Result<ListPage> list(const ListRequest& request, TaskContext& task) const = 0;
    virtual Result<ObjectInfo> stat(std::string_view key) const = 0;
    /// Fills all of `out` from byte `offset`. An object that ends before is Code::Truncated, never a short read.
    virtual Result<void> read(std::string_view key, std::uint64_t offset, MutableByteSpan out) const = 0;
    /// Whether a folder of this name exists and nothing is in it. Always false in stores that have no folders.
    virtual Result<bool> hasEmptyFolder(std::string_view key) const;
    virtual Result<ObjectInfo> put(std::string_view key, ByteSource& bytes, PutMode mode, TaskContext& task) = 0;
    virtual Result<std::unique_ptr<StoreWatch>> watch() const = 0;
};

/// What every store demands of a key, before anything else: components between single '/', none of them empty, "." or
/// ".."; no NUL. Errors: Usage.
Result<void> checkKey(std::string_view key);

/// All pages of a listing; an error in any page discards the whole listing. ListSuspect if the pages are out of order
/// or hold keys that were not asked for.
Result<std::vector<ObjectInfo>> listAll(const ObjectStore& store, std::string_view prefix, TaskContext& task);

/// Reads a whole object of at most `limitBytes`. Errors: those of read; Hostile if it is larger, Transient if it
/// changed meanwhile.
Result<std::vector<std::byte>> readWhole(const ObjectStore& store, std::string_view key, std::uint64_t limitBytes);

/// Opens the store at an address. Errors: Usage (also for a file: the folder around it was not named, and may hold
/// something else), NotFound, Auth, Unsupported (a scheme of another build).
Result<std::unique_ptr<ObjectStore>> openStore(const Address& address);

/// The store of a local folder. `folder` must exist.
Result<std::unique_ptr<ObjectStore>> openLocalStore(const std::string& folder);

} // namespace deltascope
