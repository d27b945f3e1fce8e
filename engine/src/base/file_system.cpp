#include "deltascope/engine/file_system.h"

#include "disk_place.h"
#include "errno_error.h"
#include "file_handle.h"
#include "folder_reader.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace deltascope {

namespace {

constexpr mode_t FileMode = 0600;
constexpr mode_t FolderMode = 0700;
constexpr int MaxDepth = 64;

tl::unexpected<Error> notSeen(int errnoValue, const std::string& path)
{
    return errnoValue == ENOENT ? fail(Code::NotFound, "there is no such file", path)
                                : failErrno("lstat", errnoValue, path);
}

class LocalFile final : public OutputFile {
public:
    LocalFile(FileHandle file, std::string path)
        : m_file(std::move(file))
        , m_path(std::move(path))
    {
    }

    Result<void> preallocate(std::uint64_t sizeBytes) override
    {
        if (sizeBytes == 0)
            return {};
        if (sizeBytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
            return failErrno("fallocate", EFBIG, m_path);
        const auto size = static_cast<off_t>(sizeBytes);
        int outcome = 0;
        do {
            outcome = ::fallocate(m_file.get(), 0, 0, size);
        } while (outcome != 0 && errno == EINTR);
        if (outcome == 0)
            return {};
        if (errno != EOPNOTSUPP && errno != ENOSYS)
            return failErrno("fallocate", errno, m_path);
        return extend(size);
    }

    Result<void> write(std::uint64_t offset, ByteSpan bytes) override { return writeAt(m_file, offset, bytes, m_path); }

    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        DS_TRY(const std::size_t got, readAt(m_file, offset, out, m_path));
        if (got != out.size())
            return fail(
                Code::Truncated,
                fmt::format("pread: the file ends after {} of {} bytes from byte {} on", got, out.size(), offset),
                m_path);
        return {};
    }

    void startWriteback(std::uint64_t offset, std::uint64_t bytes) noexcept override
    {
        ::sync_file_range(m_file.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
    }

    Result<void> sync() override
    {
        // After a failed fsync the kernel may have dropped the unwritten pages and report success the next time.
        if (m_lost)
            return fail(Code::Io, "fsync: an earlier one failed, so the content is lost", m_path);
        if (::fsync(m_file.get()) == 0)
            return {};
        m_lost = true;
        return failErrno("fsync", errno, m_path);
    }

    void dropCache() noexcept override { ::posix_fadvise(m_file.get(), 0, 0, POSIX_FADV_DONTNEED); }

private:
    /// The size without the space, for file systems that cannot reserve any.
    Result<void> extend(off_t size)
    {
        struct stat status = {};
        if (::fstat(m_file.get(), &status) != 0)
            return failErrno("fstat", errno, m_path);
        if (status.st_size < size && ::ftruncate(m_file.get(), size) != 0)
            return failErrno("ftruncate", errno, m_path);
        return {};
    }

    FileHandle m_file;
    std::string m_path;
    std::atomic<bool> m_lost = false;
};

class LocalLock final : public FolderLock {
public:
    explicit LocalLock(FileHandle folder)
        : m_folder(std::move(folder))
    {
    }

private:
    FileHandle m_folder;
};

/// A trailing slash would make the kernel follow a symbolic link.
std::string withoutTrailingSlash(std::string path)
{
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    return path;
}

Result<std::vector<std::string>> namesIn(const FileHandle& folder, const std::string& path)
{
    std::vector<std::string> names;
    DS_CHECK(readFolder(folder, path, [&](std::string_view name, EntryKind) { names.emplace_back(name); }));
    return names;
}

/// Removes a name and, if it is a folder, all below. Names that somebody else removes meanwhile are fine.
Result<void> removeBelow(int parent, const std::string& name, const std::string& path, int depth)
{
    // unlink of a folder is EISDIR here and EPERM by POSIX; never a success.
    if (::unlinkat(parent, name.c_str(), 0) == 0)
        return {};
    if (errno == ENOENT && depth > 0)
        return {};
    const int unlinkError = errno;
    if (unlinkError != EISDIR && unlinkError != EPERM)
        return failErrno("unlink", unlinkError, path);
    if (depth == MaxDepth)
        return fail(Code::Io, fmt::format("unlink: folders nested more than {} deep", MaxDepth), path);
    const FileHandle folder = openAt(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!folder && errno == ENOTDIR) // no folder after all, so it was the unlink that is not permitted
        return failErrno("unlink", unlinkError, path);
    if (!folder)
        return failErrno("open", errno, path);
    DS_TRY(const std::vector<std::string> names, namesIn(folder, path));
    for (const std::string& inner : names)
        DS_CHECK(removeBelow(folder.get(), inner, path + '/' + inner, depth + 1));
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return failErrno("rmdir", errno, path);
    return {};
}

class LocalFileSystem final : public FileSystem {
public:
    explicit LocalFileSystem(std::string root)
        : m_root(std::move(root))
    {
    }

    Result<void> createFolder(const std::string& path) override
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        if (::mkdirat(place.at(), place.name.c_str(), FolderMode) != 0)
            return failErrno("mkdir", errno, path);
        return {};
    }

    Result<std::unique_ptr<OutputFile>> create(const std::string& path) override
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        FileHandle file = openAt(place.at(), place.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, FileMode);
        if (!file)
            return failErrno("open", errno, path);
        return std::make_unique<LocalFile>(std::move(file), path);
    }

    Result<std::unique_ptr<OutputFile>> openExisting(const std::string& path) override
    {
        DS_TRY(FileHandle file, openRegular(path, O_RDWR));
        return std::make_unique<LocalFile>(std::move(file), path);
    }

    Result<std::unique_ptr<const OutputFile>> openForRead(const std::string& path) const override
    {
        DS_TRY(FileHandle file, openRegular(path, O_RDONLY));
        return std::make_unique<const LocalFile>(std::move(file), path);
    }

    Result<std::vector<std::string>> list(const std::string& folder) const override
    {
        DS_TRY(const FileHandle handle, openFolder(folder));
        DS_TRY(std::vector<std::string> names, namesIn(handle, folder));
        std::sort(names.begin(), names.end());
        return names;
    }

    bool exists(const std::string& path) const noexcept override
    {
        const Result<DiskPlace> place = placeOf(m_root, path);
        struct stat status = {};
        return place && ::fstatat(place->at(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    }

    Result<std::uint64_t> sizeOf(const std::string& path) const override
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        struct stat status = {};
        if (::fstatat(place.at(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            return notSeen(errno, path);
        if (!S_ISREG(status.st_mode))
            return fail(Code::Io, "is no regular file", path);
        return static_cast<std::uint64_t>(status.st_size);
    }

    Result<std::string> identityOf(const std::string& path) const override
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        struct stat status = {};
        if (::fstatat(place.at(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            return notSeen(errno, path);
        return fmt::format("{}:{}:{}:{}.{:09}:{}.{:09}", status.st_dev, status.st_ino, status.st_size,
                           status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                           status.st_ctim.tv_nsec);
    }

    Result<std::uint64_t> freeBytes(const std::string& folder) const override
    {
        DS_TRY(const FileHandle handle, openFolder(folder));
        struct statvfs status = {};
        if (::fstatvfs(handle.get(), &status) != 0)
            return failErrno("statvfs", errno, folder);
        return checkedMul(status.f_bavail, status.f_frsize).value_or(std::numeric_limits<std::uint64_t>::max());
    }

    Result<void> renameNoReplace(const std::string& from, const std::string& to) override
    {
        DS_TRY(const DiskPlace source, placeOf(m_root, from));
        DS_TRY(const DiskPlace target, placeOf(m_root, to));
        if (::renameat2(source.at(), source.name.c_str(), target.at(), target.name.c_str(), RENAME_NOREPLACE) == 0)
            return {};
        if (errno != EINVAL && errno != ENOSYS)
            return failErrno("renameat2", errno, to);
        return renameIfFree(source, target, from, to);
    }

    Result<void> replace(const std::string& from, const std::string& to) override
    {
        DS_TRY(const DiskPlace source, placeOf(m_root, from));
        DS_TRY(const DiskPlace target, placeOf(m_root, to));
        if (::renameat(source.at(), source.name.c_str(), target.at(), target.name.c_str()) != 0)
            return failErrno("rename", errno, to);
        return {};
    }

    Result<void> syncFolder(const std::string& path) override
    {
        DS_TRY(const FileHandle folder, openFolder(path));
        return syncEntries(folder, path);
    }

    Result<void> removeFile(const std::string& path) override
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        if (::unlinkat(place.at(), place.name.c_str(), 0) != 0)
            return failErrno("unlink", errno, path);
        return {};
    }

    Result<void> removeTree(const std::string& path) override
    {
        const std::string whole = withoutTrailingSlash(path);
        DS_TRY(const DiskPlace place, placeOf(m_root, whole));
        return removeBelow(place.at(), place.name, whole, 0);
    }

    Result<std::unique_ptr<FolderLock>> lock(const std::string& folder) override
    {
        DS_TRY(FileHandle handle, openFolder(folder));
        if (::flock(handle.get(), LOCK_EX | LOCK_NB) == 0)
            return std::make_unique<LocalLock>(std::move(handle));
        if (errno == EWOULDBLOCK)
            return fail(Code::Exists, "flock: another process works in this folder", folder,
                        "Wait until it has finished, or stop it.");
        return failErrno("flock", errno, folder);
    }

private:
    Result<FileHandle> openFolder(const std::string& path) const
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        if (!m_root.empty())
            return openFolderAt(place.at(), place.name, O_RDONLY, path);
        FileHandle folder = openAt(place.at(), place.name.c_str(), O_RDONLY | O_DIRECTORY);
        if (!folder)
            return failErrno("open", errno, path);
        return folder;
    }

    Result<FileHandle> openRegular(const std::string& path, int access) const
    {
        DS_TRY(const DiskPlace place, placeOf(m_root, path));
        FileHandle file = openAt(place.at(), place.name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (!file)
            return failErrno("open", errno, path);
        struct stat status = {};
        if (::fstat(file.get(), &status) != 0)
            return failErrno("fstat", errno, path);
        if (!S_ISREG(status.st_mode))
            return fail(Code::Io, "open: not a regular file", path);
        return file;
    }

    /// For file systems without RENAME_NOREPLACE. Files: still atomic, by a second name. Folders: as good as it gets;
    /// a folder that appears between check and rename is only replaced if it is empty.
    static Result<void> renameIfFree(const DiskPlace& source, const DiskPlace& target, const std::string& from,
                                     const std::string& to)
    {
        if (::linkat(source.at(), source.name.c_str(), target.at(), target.name.c_str(), 0) == 0) {
            if (::unlinkat(source.at(), source.name.c_str(), 0) != 0)
                return failErrno("unlink", errno, from);
            return {};
        }
        if (errno == EEXIST)
            return failErrno("link", errno, to);
        struct stat status = {};
        if (::fstatat(target.at(), target.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
            return failErrno("rename", EEXIST, to);
        if (errno != ENOENT)
            return failErrno("lstat", errno, to);
        if (::renameat(source.at(), source.name.c_str(), target.at(), target.name.c_str()) != 0)
            return failErrno("rename", errno, to);
        return {};
    }

    const std::string m_root;
};

} // namespace

std::unique_ptr<FileSystem> makeFileSystem() { return makeFileSystemBelow({}); }

std::unique_ptr<FileSystem> makeFileSystemBelow(std::string root)
{
    return std::make_unique<LocalFileSystem>(std::move(root));
}

Result<void> createFoldersBelow(FileSystem& disk, const std::string& root, const std::string& folder)
{
    for (std::size_t end = folder.find('/', root.size() + 1);; end = folder.find('/', end + 1)) {
        const std::string path = folder.substr(0, end);
        if (const Result<void> made = disk.createFolder(path); !made && made.error().code != Code::Exists)
            return made;
        if (end == std::string::npos)
            return {};
    }
}

Result<std::string> readTextFile(const FileSystem& disk, const std::string& path, std::uint64_t limitBytes)
{
    DS_TRY(const std::uint64_t size, disk.sizeOf(path));
    if (size > limitBytes)
        return fail(Code::Hostile, fmt::format("{} bytes, where at most {} make sense", size, limitBytes), path);
    DS_TRY(const std::unique_ptr<const OutputFile> file, disk.openForRead(path));
    std::string text(size, '\0');
    DS_CHECK(file->read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

Result<void> writeTextFile(FileSystem& disk, const std::string& path, std::string_view text)
{
    DS_TRY(const std::unique_ptr<OutputFile> file, disk.create(path));
    Result<void> outcome = file->write(0, asBytes(text));
    if (outcome)
        outcome = file->sync();
    if (!outcome)
        static_cast<void>(disk.removeFile(path)); // the first error is the one to tell
    return outcome;
}

Result<void> replaceTextFile(FileSystem& disk, const std::string& path, std::string_view text)
{
    const std::string aside = path + ".new";
    const Result<void> gone = disk.removeFile(aside); // of a process that was killed
    if (!gone && gone.error().code != Code::NotFound)
        return gone;
    DS_CHECK(writeTextFile(disk, aside, text));
    if (Result<void> put = disk.replace(aside, path); !put) {
        static_cast<void>(disk.removeFile(aside)); // the first error is the one to tell
        return put;
    }
    return disk.syncFolder(std::filesystem::path(path).parent_path().string());
}

} // namespace deltascope
