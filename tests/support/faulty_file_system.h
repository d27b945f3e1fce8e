#pragma once

#include "deltascope/engine/file_system.h"
#include "support/fault_plan.h"

#include <cstdint>
#include <memory>
#include <string>

namespace deltascope::test {

enum class DiskOperation : std::uint8_t {
    CreateFolder,
    Create,
    OpenExisting,
    OpenForRead,
    List,
    SizeOf,
    IdentityOf,
    FreeBytes,
    Rename,
    SyncFolder,
    RemoveFile,
    RemoveTree,
    Lock,
    Preallocate,
    Write,
    Read,
    Sync,
    Any
};

/// A disk in front of a real one that fails on demand. A failing call does not reach the real disk, but for the byte
/// budget: the write that exceeds it still writes what fits. exists, startWriteback and dropCache are neither counted
/// nor do they fail. Files may outlive this object. Any thread.
class FaultyFileSystem final : public FileSystem {
public:
    explicit FaultyFileSystem(std::shared_ptr<FileSystem> inner = makeFileSystem());

    /// The `nth` call from now on (1 = the next) fails; Forever: all later ones too.
    void failNth(DiskOperation operation, std::uint64_t nth, Error error, Repeat repeat = Repeat::Once);
    /// From now on files can grow by this much together, then preallocate and write fail with NoSpace. Removing files
    /// gives nothing back. freeBytes shows the rest.
    void limitBytes(std::uint64_t budget);
    /// Faults and budget; the counters go on.
    void clearFaults();

    std::uint64_t calls(DiskOperation operation) const;
    std::uint64_t faults() const; ///< without those of the budget
    std::uint64_t bytesWritten() const;

    Result<void> createFolder(const std::string& path) override;
    Result<std::unique_ptr<OutputFile>> create(const std::string& path) override;
    Result<std::unique_ptr<OutputFile>> openExisting(const std::string& path) override;
    Result<std::unique_ptr<const OutputFile>> openForRead(const std::string& path) const override;
    Result<std::vector<std::string>> list(const std::string& folder) const override;
    bool exists(const std::string& path) const noexcept override;
    Result<std::uint64_t> sizeOf(const std::string& path) const override;
    Result<std::string> identityOf(const std::string& path) const override;
    Result<std::uint64_t> freeBytes(const std::string& folder) const override;
    Result<void> renameNoReplace(const std::string& from, const std::string& to) override;
    Result<void> replace(const std::string& from, const std::string& to) override;
    Result<void> syncFolder(const std::string& path) override;
    Result<void> removeFile(const std::string& path) override;
    Result<void> removeTree(const std::string& path) override;
    Result<std::unique_ptr<FolderLock>> lock(const std::string& folder) override;

private:
    struct State;
    class File;
    std::shared_ptr<FileSystem> m_inner;
    std::shared_ptr<State> m_state; ///< shared with the files
};

} // namespace deltascope::test
