#include "disk_cache.h"

#include "../../base/errno_error.h"
#include "../local_object.h"
#include "disk_trim.h"
#include "leaf_file.h"

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
    if (!m_leaves || object.size() > MostLeafNameBytes)
        return std::nullopt;
    const std::string path = leafFilePath(object, leaf);
    const FileHandle file = openAt(m_leaves.get(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    RawBytes content(LeafFileFrameBytes + object.size() + bytes);
    const bool fits = static_cast<std::uint64_t>(status.st_size) == content.size();
    const Result<std::size_t> got = fits ? readAt(file, 0, content, m_folder) : Result<std::size_t>(std::size_t { 0 });
    if (!got)
        return std::nullopt;
    const std::optional<ByteSpan> payload =
        *got == content.size() ? payloadOf(content, object, leaf, bytes) : std::nullopt;
    if (!payload) {
        ::unlinkat(m_leaves.get(), path.c_str(), 0);
        return std::nullopt;
    }
    noteUse(file, status);
    content.erase(content.begin(), content.begin() + (payload->data() - content.data()));
    content.resize(static_cast<std::size_t>(bytes));
    return content;
}

bool DiskCache::mayHave(std::string_view object, std::uint64_t leaf) const
{
    return m_leaves && ::faccessat(m_leaves.get(), leafFilePath(object, leaf).c_str(), R_OK, 0) == 0;
}

void DiskCache::keep(std::string_view object, std::uint64_t leaf, ByteSpan bytes)
{
    if (!m_leaves || !m_lock || object.size() > MostLeafNameBytes || bytes.empty())
        return;
    const std::uint64_t taken = takenBytes(LeafFileFrameBytes + object.size() + bytes.size());
    if (!hasRoomFor(taken))
        return;
    Result<std::string> path = write(object, leaf, bytes);
    if (!path)
        return note(std::move(path.error()));
    const std::lock_guard lock(m_mutex);
    auto place = m_unsettled.find(object);
    if (place == m_unsettled.end())
        place = m_unsettled.emplace(object, Unsettled()).first;
    if (place->second.try_emplace(leaf, Written { *path, taken }).second)
        m_unsettledBytes += taken;
    else // the first bytes of a leaf are those that the store has counted
        ::unlinkat(m_leaves.get(), path->c_str(), 0);
}

void DiskCache::settle(std::string_view object)
{
    for (const auto& [leaf, file] : takeUnsettled(object)) {
        const std::string path = leafFilePath(object, leaf);
        if (::renameat(m_leaves.get(), file.path.c_str(), m_leaves.get(), path.c_str()) == 0)
            continue;
        note(errnoError("rename", errno, m_folder));
        ::unlinkat(m_leaves.get(), file.path.c_str(), 0);
    }
}

void DiskCache::discard(std::string_view object) { removeAll(takeUnsettled(object)); }

DiskCache::~DiskCache()
{
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
    for (const auto& [leaf, file] : files)
        m_unsettledBytes -= file.takenBytes;
    return files;
}

void DiskCache::removeAll(const Unsettled& files)
{
    for (const auto& [leaf, file] : files)
        ::unlinkat(m_leaves.get(), file.path.c_str(), 0);
}

Result<std::string> DiskCache::write(std::string_view object, std::uint64_t leaf, ByteSpan bytes)
{
    const std::string path = leafFilePath(object, leaf);
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
    const Result<void> outcome = writeLeafFile(object, leaf, bytes, [&](ByteSpan piece) {
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
