#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// One open file that we write. Offsets in bytes. Different ranges may be written from different threads.
class OutputFile {
public:
    virtual ~OutputFile() = default;
    virtual Result<void> preallocate(std::uint64_t sizeBytes) = 0;
    virtual Result<void> write(std::uint64_t offset, ByteSpan bytes) = 0;
    /// Fills all of `out`; Truncated if the file ends before.
    virtual Result<void> read(std::uint64_t offset, MutableByteSpan out) const = 0;
    /// Starts write-back of a range without waiting; advice only.
    virtual void startWriteback(std::uint64_t offset, std::uint64_t bytes) noexcept = 0;
    /// After an error of sync() the file is lost: it must be thrown away, never synced again.
    virtual Result<void> sync() = 0;
    virtual void dropCache() noexcept = 0;
};

/// Held as long as the object lives; another process cannot hold it meanwhile. Released by the kernel on any death.
class FolderLock {
public:
    virtual ~FolderLock() = default;
};

/// The disk that checkpoints are written to. Paths are absolute or relative to the working directory. Files are created
/// with mode 0600/0700 and never through a symbolic link in their last component. Any thread.
/// Codes: NotFound, Exists, Auth, NoSpace, Io. Every error names call and path.
class FileSystem {
public:
    virtual ~FileSystem() = default;
    virtual Result<void> createFolder(const std::string& path) = 0; ///< Exists if it is there
    virtual Result<std::unique_ptr<OutputFile>> create(const std::string& path) = 0; ///< Exists if it is there
    virtual Result<std::unique_ptr<OutputFile>> openExisting(const std::string& path) = 0; ///< for read and write
    virtual Result<std::unique_ptr<const OutputFile>> openForRead(const std::string& path) const = 0;
    virtual Result<std::vector<std::string>> list(const std::string& folder) const = 0; ///< names, sorted
    virtual bool exists(const std::string& path) const noexcept = 0; ///< also true for a dangling link
    virtual Result<std::uint64_t> sizeOf(const std::string& path) const = 0;
    /// Of a file, a folder or a link itself: it changes whenever its bytes or, of a folder, its names may have.
    virtual Result<std::string> identityOf(const std::string& path) const = 0;
    virtual Result<std::uint64_t> freeBytes(const std::string& folder) const = 0;
    /// Atomic; Exists if `to` is there.
    virtual Result<void> renameNoReplace(const std::string& from, const std::string& to) = 0;
    virtual Result<void> replace(const std::string& from, const std::string& to) = 0; ///< Atomic; `to` may be there
    virtual Result<void> syncFolder(const std::string& path) = 0;
    virtual Result<void> removeFile(const std::string& path) = 0;
    virtual Result<void> removeTree(const std::string& path) = 0;
    /// Locks a folder; Exists if somebody else holds it.
    virtual Result<std::unique_ptr<FolderLock>> lock(const std::string& folder) = 0;
};

/// The file system of this machine. The program must ignore SIGXFSZ, or a file size limit kills it instead of being
/// Code::NoSpace.
std::unique_ptr<FileSystem> makeFileSystem();

/// The same for paths in `root`, an absolute path of a folder, and for no others: Usage. No link below `root` is
/// followed, also one that takes the place of a folder between two calls: Auth. `root` itself may lead through links.
/// Empty: as makeFileSystem().
std::unique_ptr<FileSystem> makeFileSystemBelow(std::string root);

/// Creates the folders on the way from `root` down to `folder`, that one included, where they are not there. `disk` is
/// made for `root`, which exists. Errors: those of createFolder().
Result<void> createFoldersBelow(FileSystem& disk, const std::string& root, const std::string& folder);

/// Reads a small whole file (settings, progress records). Errors: NotFound, Io, Hostile (larger than the limit).
Result<std::string> readTextFile(const FileSystem& disk, const std::string& path, std::uint64_t limitBytes);

/// Creates `path` with `text` and syncs it. Errors: Exists and those of the disk.
Result<void> writeTextFile(FileSystem& disk, const std::string& path, std::string_view text);

/// The same where `path` may be there: at any moment, also behind a power failure, it holds what it held or `text`.
/// Uses `path`.new, which no other thread may use at the same time. Errors: those of the disk; then it holds either.
Result<void> replaceTextFile(FileSystem& disk, const std::string& path, std::string_view text);

} // namespace deltascope
