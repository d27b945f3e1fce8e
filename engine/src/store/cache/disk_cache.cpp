#include "disk_cache.h"

#include "../../base/errno_error.h"
#include "../local_object.h"
#include "disk_trim.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace deltascope {

namespace {

constexpr mode_t CacheFolderMode = 0700;
constexpr mode_t CacheFileMode = 0600;
constexpr auto PauseAfterFailure = std::chrono::minutes(1);
constexpr std::uint64_t MostBytesToWrite = std::uint64_t { 32 } << 20;
constexpr std::int64_t FreshUseSeconds = 60; ///< a use is noted once in this time
constexpr std::string_view LeavesFolder = "leaves-1";

/// Opens a folder that nobody else can write to; makes it.
Result<FileHandle> openPrivateFolder(int parent, const std::string& name, const std::string& where)
{
    if (::mkdirat(parent, name.c_str(), CacheFolderMode) != 0 && errno != EEXIST && errno != EROFS)
        return failErrno("mkdir", errno, where);
    FileHandle folder = openAt(parent, name.c_str(), O_RDONLY | O_DIRECTORY);
    if (!folder)
        return failErrno("open", errno, where);
    struct stat status = {};
    if (::fstat(folder.get(), &status) != 0)
        return failErrno("fstat", errno, where);
    if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(Code::Auth, "the folder of the cache belongs to somebody else, or others may write to it", where,
                    "give the cache a folder of its own, with mode 0700");
    return folder;
}

/// So that the trim sees what is in use; that it cannot be noted does not matter.
void noteUse(const FileHandle& file, const struct stat& status)
{
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec - status.st_mtim.tv_sec < FreshUseSeconds && status.st_mtim.tv_sec <= now.tv_sec)
        return;
    const timespec times[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };
    ::futimens(file.get(), times);
}

} // namespace

DiskCache::DiskCache(const std::string& folder, std::uint64_t capBytes)
    : m_folder(folder)
    , m_cap(capBytes)
    , m_jobs(MostBytesToWrite)
{
    if (Result<void> opened = openFolder(folder); !opened)
        m_problem = std::move(opened.error());
}

Result<void> DiskCache::openFolder(const std::string& folder)
{
    std::error_code ignored; // what is wrong with it shows when the folder itself is made
    std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
    DS_TRY(const FileHandle root, openPrivateFolder(AT_FDCWD, folder, folder));
    DS_TRY(FileHandle leaves, openPrivateFolder(root.get(), std::string(LeavesFolder), folder));
    m_lock = openAt(root.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW, CacheFileMode); // without it nothing is written
    m_leaves = std::move(leaves);
    return {};
}

std::optional<RawBytes> DiskCache::read(std::string_view object, std::uint64_t leaf, std::uint64_t bytes)
{
    const std::optional<Found> found = find(object, leaf);
    if (!found)
        return std::nullopt;
    std::optional<RawBytes> payload = readSound(*found, object, leaf, bytes);
    if (payload)
        noteUse(found->file, found->status);
    else
        ::unlinkat(m_leaves.get(), found->path.c_str(), 0);
    return payload;
}

bool DiskCache::mayHave(std::string_view object, std::uint64_t leaf) const { return find(object, leaf).has_value(); }

/// The file that begins with the leaf, or with one in front of it, and by its length holds it.
std::optional<DiskCache::Found> DiskCache::find(std::string_view object, std::uint64_t leaf) const
{
    if (!m_leaves || object.size() > MostLeafNameBytes)
        return std::nullopt;
    const std::uint64_t begin = leaf - leaf % LeavesOfWindow;
    for (std::uint64_t first = leaf + 1; first-- > begin;) {
        Found found { {}, {}, leafFilePath(object, first), first, {} };
        found.file = openAt(m_leaves.get(), found.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        if (!found.file || ::fstat(found.file.get(), &found.status) != 0 || !S_ISREG(found.status.st_mode))
            continue;
        found.shape = leafFileShape(static_cast<std::uint64_t>(found.status.st_size), object);
        if (leaf - first < found.shape.leaves || leaf == first)
            return found;
    }
    return std::nullopt;
}

std::optional<RawBytes> DiskCache::readSound(const Found& found, std::string_view object, std::uint64_t leaf,
                                             std::uint64_t bytes) const
{
    const std::uint64_t place = leaf - found.firstLeaf;
    const LeafFileShape& shape = found.shape;
    if (place >= shape.leaves || bytesOfLeaves({ place, 1 }, shape.payloadBytes) != bytes)
        return std::nullopt;
    const auto readWhole = [&](std::uint64_t at, MutableByteSpan out) {
        const Result<std::size_t> got = readAt(found.file, at, out, m_folder);
        return got && *got == out.size();
    };
    const std::vector<std::byte> expected = leafFileHead(object, found.firstLeaf, shape.payloadBytes);
    std::vector<std::byte> head(expected.size());
    RawBytes payload(static_cast<std::size_t>(bytes));
    Digest128 digest = {};
    const std::uint64_t digestAt = head.size() + shape.payloadBytes + place * digest.size();
    if (!readWhole(0, head) || head != expected || !readWhole(head.size() + place * CacheLeafBytes, payload)
        || !readWhole(digestAt, digest) || digest != leafDigest(head, leaf, payload))
        return std::nullopt;
    return payload;
}

void DiskCache::keep(std::string_view object, const LeafRange& leaves, std::shared_ptr<const RawBytes> bytes)
{
    if (!m_leaves || !m_lock || object.size() > MostLeafNameBytes || bytes->empty())
        return;
    const std::uint64_t size = bytes->size();
    m_jobs.add(size, [this, object = std::string(object), leaves, bytes = std::move(bytes)] {
        keepNow(object, leaves, *bytes);
    });
}

void DiskCache::settle(std::string_view object)
{
    m_jobs.add(0, [this, object = std::string(object)] { settleNow(object); });
}

void DiskCache::discard(std::string_view object)
{
    m_jobs.add(0, [this, object = std::string(object)] { removeAll(takeUnsettled(object)); });
}

void DiskCache::forget(std::string_view object, std::uint64_t objectBytes)
{
    if (!m_leaves || object.size() > MostLeafNameBytes)
        return;
    discard(object);
    finish();
    for (std::uint64_t leaf = 0; leaf < leavesOfSize(objectBytes); ++leaf)
        ::unlinkat(m_leaves.get(), leafFilePath(object, leaf).c_str(), 0);
}

void DiskCache::keepNow(const std::string& object, const LeafRange& leaves, ByteSpan bytes)
{
    const std::uint64_t taken = takenBytes(leafFileBytes(object, bytes.size()));
    if (!hasRoomFor(taken))
        return;
    Result<std::string> path = write(object, leaves, bytes);
    if (!path)
        return note(std::move(path.error()));
    if (!addUnsettled(object, { leaves, *path, taken }))
        ::unlinkat(m_leaves.get(), path->c_str(), 0);
}

/// False: of some of the leaves others wait. The first bytes of a leaf are those that the store has counted.
bool DiskCache::addUnsettled(std::string_view object, Written written)
{
    const std::lock_guard lock(m_mutex);
    auto place = m_unsettled.find(object);
    if (place == m_unsettled.end())
        place = m_unsettled.emplace(object, Unsettled()).first;
    Unsettled& files = place->second;
    const bool overlaps = std::any_of(files.begin(), files.end(), [&](const Written& file) {
        return file.leaves.first < written.leaves.end() && written.leaves.first < file.leaves.end();
    });
    if (overlaps)
        return false;
    m_unsettledBytes += written.takenBytes;
    files.push_back(std::move(written));
    return true;
}

void DiskCache::settleNow(const std::string& object)
{
    for (const Written& file : takeUnsettled(object)) {
        const std::string path = leafFilePath(object, file.leaves.first);
        if (::renameat(m_leaves.get(), file.path.c_str(), m_leaves.get(), path.c_str()) == 0)
            continue;
        note(errnoError("rename", errno, m_folder));
        ::unlinkat(m_leaves.get(), file.path.c_str(), 0);
    }
}

DiskCache::~DiskCache()
{
    finish();
    for (const auto& [object, files] : m_unsettled)
        removeAll(files);
}

DiskCache::Unsettled DiskCache::takeUnsettled(std::string_view object)
{
    const std::lock_guard lock(m_mutex);
    const auto place = m_unsettled.find(object);
    if (place == m_unsettled.end())
        return {};
    Unsettled files = std::move(place->second);
    m_unsettled.erase(place);
    for (const Written& file : files)
        m_unsettledBytes -= file.takenBytes;
    return files;
}

void DiskCache::removeAll(const Unsettled& files)
{
    for (const Written& file : files)
        ::unlinkat(m_leaves.get(), file.path.c_str(), 0);
}

Result<std::string> DiskCache::write(std::string_view object, const LeafRange& leaves, ByteSpan bytes)
{
    const std::string path = leafFilePath(object, leaves.first);
    const std::string folder = path.substr(0, path.find('/'));
    const std::string name = path.substr(folder.size() + 1);
    const std::string temporary = folder + '/' + temporaryName(name);
    const auto create = [&] {
        return openAt(m_leaves.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, CacheFileMode);
    };
    FileHandle handle = create();
    if (!handle && errno == ENOENT && ::mkdirat(m_leaves.get(), folder.c_str(), CacheFolderMode) == 0)
        handle = create();
    if (!handle && errno == EEXIST) // another process has just made the folder
        handle = create();
    if (!handle)
        return failErrno("open", errno, m_folder);
    std::uint64_t end = 0;
    const Result<void> outcome = writeLeafFile(object, leaves, bytes, [&](ByteSpan piece) {
        return writeAt(handle, std::exchange(end, end + piece.size()), piece, m_folder);
    });
    if (!outcome) {
        ::unlinkat(m_leaves.get(), temporary.c_str(), 0);
        return fail(outcome.error());
    }
    return temporary;
}

/// Each process writes at most a sixteenth of the cap between two looks at the folder, and a look leaves an eighth
/// free.
bool DiskCache::hasRoomFor(std::uint64_t bytes)
{
    const std::lock_guard lock(m_mutex);
    if (std::chrono::steady_clock::now() < m_pausedUntil || m_unsettledBytes + bytes > m_cap / 2)
        return false;
    const bool needsTrim = !m_isTrimmed || m_sinceTrim + bytes > m_cap / 16;
    if (needsTrim && !trim())
        return false;
    m_sinceTrim += bytes;
    return true;
}

/// Call with the mutex held. False: another process is at it, and what is to be kept now is not.
bool DiskCache::trim()
{
    if (::flock(m_lock.get(), LOCK_EX | LOCK_NB) != 0)
        return false;
    const bool isDone = trimLeaves(m_leaves, m_cap - m_cap / 8);
    ::flock(m_lock.get(), LOCK_UN);
    if (isDone) {
        m_isTrimmed = true;
        m_sinceTrim = 0;
    }
    return isDone;
}

void DiskCache::note(Error error)
{
    const std::lock_guard lock(m_mutex);
    m_problem = std::move(error);
    m_pausedUntil = std::chrono::steady_clock::now() + PauseAfterFailure;
}

std::optional<Error> DiskCache::problem() const
{
    const std::lock_guard lock(m_mutex);
    return m_problem;
}

} // namespace deltascope
