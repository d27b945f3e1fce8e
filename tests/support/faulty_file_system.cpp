#include "support/faulty_file_system.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace deltascope::test {

struct FaultyFileSystem::State {
    FaultPlan<DiskOperation> plan;
    mutable std::mutex mutex; ///< guards what follows
    std::optional<std::uint64_t> budget;
    std::uint64_t bytesWritten = 0;

    /// Takes up to `bytes` from the budget; returns how much.
    std::uint64_t take(std::uint64_t bytes)
    {
        const std::lock_guard lock(mutex);
        if (!budget)
            return bytes;
        const std::uint64_t taken = std::min(bytes, *budget);
        *budget -= taken;
        return taken;
    }
};

class FaultyFileSystem::File final : public OutputFile {
public:
    File(std::unique_ptr<OutputFile> inner, std::shared_ptr<State> state, std::string path, std::uint64_t size)
        : m_inner(std::move(inner))
        , m_state(std::move(state))
        , m_path(std::move(path))
        , m_size(size)
    {
    }

    Result<void> preallocate(std::uint64_t sizeBytes) override
    {
        DS_CHECK(m_state->plan.enter(DiskOperation::Preallocate));
        const std::lock_guard lock(m_mutex);
        const std::uint64_t growth = sizeBytes - std::min(sizeBytes, m_size);
        if (m_state->take(growth) != growth)
            return noSpace("fallocate");
        DS_CHECK(m_inner->preallocate(sizeBytes));
        m_size += growth;
        return {};
    }

    Result<void> write(std::uint64_t offset, ByteSpan bytes) override
    {
        DS_CHECK(m_state->plan.enter(DiskOperation::Write));
        const std::size_t fitting = reserve(offset, bytes.size());
        DS_CHECK(m_inner->write(offset, bytes.first(fitting)));
        {
            const std::lock_guard lock(m_state->mutex);
            m_state->bytesWritten += fitting;
        }
        if (fitting != bytes.size())
            return noSpace("pwrite");
        return {};
    }

    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        DS_CHECK(m_state->plan.enter(DiskOperation::Read));
        return m_inner->read(offset, out);
    }

    void startWriteback(std::uint64_t offset, std::uint64_t bytes) noexcept override
    {
        m_inner->startWriteback(offset, bytes);
    }

    Result<void> sync() override
    {
        DS_CHECK(m_state->plan.enter(DiskOperation::Sync));
        return m_inner->sync();
    }

    void dropCache() noexcept override { m_inner->dropCache(); }

private:
    /// How many of the bytes may be written.
    std::size_t reserve(std::uint64_t offset, std::size_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        const std::uint64_t end = offset + bytes;
        if (end <= m_size)
            return bytes;
        m_size += m_state->take(end - m_size);
        return static_cast<std::size_t>(std::min(end, std::max(m_size, offset)) - offset);
    }

    tl::unexpected<Error> noSpace(const char* call) const
    {
        return fail(Code::NoSpace, std::string(call) + ": No space left on device", m_path);
    }

    std::unique_ptr<OutputFile> m_inner;
    std::shared_ptr<State> m_state;
    std::string m_path;
    std::mutex m_mutex;
    std::uint64_t m_size; ///< charged to the budget or there before
};

namespace {

/// A file that is only read: counts and fails its reads.
class ReadFile final : public OutputFile {
public:
    ReadFile(std::unique_ptr<const OutputFile> inner, std::shared_ptr<FaultPlan<DiskOperation>> plan)
        : m_inner(std::move(inner))
        , m_plan(std::move(plan))
    {
    }
    Result<void> preallocate(std::uint64_t) override { return readOnly(); }
    Result<void> write(std::uint64_t, ByteSpan) override { return readOnly(); }
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        DS_CHECK(m_plan->enter(DiskOperation::Read));
        return m_inner->read(offset, out);
    }
    void startWriteback(std::uint64_t, std::uint64_t) noexcept override { }
    Result<void> sync() override { return readOnly(); }
    void dropCache() noexcept override { }

private:
    static tl::unexpected<Error> readOnly() { return fail(Code::Io, "the file is open for reading only"); }

    std::unique_ptr<const OutputFile> m_inner;
    std::shared_ptr<FaultPlan<DiskOperation>> m_plan;
};

} // namespace

FaultyFileSystem::FaultyFileSystem(std::shared_ptr<FileSystem> inner)
    : m_inner(std::move(inner))
    , m_state(std::make_shared<State>())
{
}

void FaultyFileSystem::failNth(DiskOperation operation, std::uint64_t nth, Error error, Repeat repeat)
{
    m_state->plan.failNth(operation, nth, std::move(error), repeat);
}

void FaultyFileSystem::limitBytes(std::uint64_t budget)
{
    const std::lock_guard lock(m_state->mutex);
    m_state->budget = budget;
}

void FaultyFileSystem::clearFaults()
{
    m_state->plan.clearFaults();
    const std::lock_guard lock(m_state->mutex);
    m_state->budget.reset();
}

std::uint64_t FaultyFileSystem::calls(DiskOperation operation) const { return m_state->plan.calls(operation); }

std::uint64_t FaultyFileSystem::faults() const { return m_state->plan.faults(); }

std::uint64_t FaultyFileSystem::bytesWritten() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->bytesWritten;
}

Result<void> FaultyFileSystem::createFolder(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::CreateFolder));
    return m_inner->createFolder(path);
}

Result<std::unique_ptr<OutputFile>> FaultyFileSystem::create(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::Create));
    DS_TRY(std::unique_ptr<OutputFile> file, m_inner->create(path));
    return std::make_unique<File>(std::move(file), m_state, path, 0);
}

Result<std::unique_ptr<OutputFile>> FaultyFileSystem::openExisting(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::OpenExisting));
    DS_TRY(std::unique_ptr<OutputFile> file, m_inner->openExisting(path));
    DS_TRY(const std::uint64_t size, m_inner->sizeOf(path));
    return std::make_unique<File>(std::move(file), m_state, path, size);
}

Result<std::unique_ptr<const OutputFile>> FaultyFileSystem::openForRead(const std::string& path) const
{
    DS_CHECK(m_state->plan.enter(DiskOperation::OpenForRead));
    DS_TRY(std::unique_ptr<const OutputFile> file, m_inner->openForRead(path));
    return std::make_unique<const ReadFile>(std::move(file),
                                            std::shared_ptr<FaultPlan<DiskOperation>>(m_state, &m_state->plan));
}

Result<std::vector<std::string>> FaultyFileSystem::list(const std::string& folder) const
{
    DS_CHECK(m_state->plan.enter(DiskOperation::List));
    return m_inner->list(folder);
}

bool FaultyFileSystem::exists(const std::string& path) const noexcept { return m_inner->exists(path); }

Result<std::uint64_t> FaultyFileSystem::sizeOf(const std::string& path) const
{
    DS_CHECK(m_state->plan.enter(DiskOperation::SizeOf));
    return m_inner->sizeOf(path);
}

Result<std::string> FaultyFileSystem::identityOf(const std::string& path) const
{
    DS_CHECK(m_state->plan.enter(DiskOperation::IdentityOf));
    return m_inner->identityOf(path);
}

Result<std::uint64_t> FaultyFileSystem::freeBytes(const std::string& folder) const
{
    DS_CHECK(m_state->plan.enter(DiskOperation::FreeBytes));
    DS_TRY(const std::uint64_t free, m_inner->freeBytes(folder));
    const std::lock_guard lock(m_state->mutex);
    return std::min(free, m_state->budget.value_or(free));
}

Result<void> FaultyFileSystem::renameNoReplace(const std::string& from, const std::string& to)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::Rename));
    return m_inner->renameNoReplace(from, to);
}

Result<void> FaultyFileSystem::replace(const std::string& from, const std::string& to)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::Rename));
    return m_inner->replace(from, to);
}

Result<void> FaultyFileSystem::syncFolder(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::SyncFolder));
    return m_inner->syncFolder(path);
}

Result<void> FaultyFileSystem::removeFile(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::RemoveFile));
    return m_inner->removeFile(path);
}

Result<void> FaultyFileSystem::removeTree(const std::string& path)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::RemoveTree));
    return m_inner->removeTree(path);
}

Result<std::unique_ptr<FolderLock>> FaultyFileSystem::lock(const std::string& folder)
{
    DS_CHECK(m_state->plan.enter(DiskOperation::Lock));
    return m_inner->lock(folder);
}

} // namespace deltascope::test
