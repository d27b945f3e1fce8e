#include "deltascope/engine/file_state.h"

#include "deltascope/engine/patch.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/buffered_extent.h"
#include "format/common/object_names.h"
#include "replay/checked_reads.h"
#include "state/adapter_config.h"
#include "state/same_object.h"

#include <algorithm>

namespace deltascope {

struct FileState::Content {
    std::shared_ptr<const ObjectStore> store;
    ObjectInfo object;
    std::shared_ptr<CheckedReads> reads;
    std::vector<StoredTensor> tensors; ///< by name
};

namespace {

/// The file that was opened, and no other that takes its place. Errors: Rewritten.
class FileBytes final : public ByteRange {
public:
    /// All outlive it.
    FileBytes(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
        : m_store(store)
        , m_object(object)
        , m_task(task)
    {
    }
    const std::string& key() const noexcept override { return m_object.key; }
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        return m_store.read(m_object, offset, out, m_task);
    }

private:
    const ObjectStore& m_store;
    const ObjectInfo& m_object;
    TaskContext& m_task;
};

class FileReader final : public SliceReader {
public:
    FileReader(BufferedExtent data, std::uint64_t blockBytes)
        : m_data(std::move(data))
        , m_blockBytes(blockBytes)
    {
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        DS_CHECK(task.checkpoint());
        return m_data.take(static_cast<std::size_t>(std::min(m_blockBytes, m_data.left())));
    }

private:
    BufferedExtent m_data;
    std::uint64_t m_blockBytes;
};

class FileWalk final : public StateWalk {
public:
    FileWalk(const std::vector<StoredTensor>& tensors, const ObjectStore& store, const ObjectInfo& object,
             std::vector<TensorSlice> slices)
        : StateWalk(std::move(slices))
        , m_tensors(tensors)
        , m_store(store)
        , m_object(object)
    {
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_tensors[slice(at).tensor].info; }
    unsigned readersAtOnce(unsigned threads) const noexcept override
    {
        return m_store.traits().keepsReads ? 2 * threads : threads; // some wait for it
    }
    ReadsAhead readAhead(TaskContext& task) const override
    {
        const auto plan = [this, at = std::size_t(0)]() mutable -> std::optional<ComingRead> {
            if (at == size())
                return std::nullopt;
            const StoredTensor& stored = m_tensors[slice(at).tensor];
            const SliceBytes bytes = bytesOf(slice(at++), stored.info);
            return ComingRead { m_object, stored.begin + bytes.begin, bytes.end - bytes.begin };
        };
        return m_store.readAhead(plan, task);
    }
    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext& task) override
    {
        constexpr std::uint64_t BufferBytes = 512 * 1024;
        const StoredTensor& stored = m_tensors[slice(at).tensor];
        const SliceBytes bytes = bytesOf(slice(at), stored.info);
        return std::unique_ptr<SliceReader>(std::make_unique<FileReader>(
            BufferedExtent(std::make_shared<FileBytes>(m_store, m_object, task), stored.begin + bytes.begin,
                           bytes.end - bytes.begin, BufferBytes),
            blockBytesOf(stored.info.dtype)));
    }

private:
    const std::vector<StoredTensor>& m_tensors;
    const ObjectStore& m_store;
    const ObjectInfo& m_object;
};

}

FileState::FileState(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
    m_tensors.reserve(m_content->tensors.size());
    for (const StoredTensor& stored : m_content->tensors)
        m_tensors.push_back(&stored.info);
}

Result<FileState> FileState::open(std::shared_ptr<const ObjectStore> store, const std::string& key, TaskContext& task,
                                  const ReadRules& rules)
{
    auto content = std::make_shared<Content>();
    DS_TRY(content->object, store->stat(key, task));
    DS_TRY(content->reads, CheckedReads::ofFile(store, content->object, rules, task));
    const std::shared_ptr<CheckedStore>& checked = content->reads->source();
    const bool isOnRecord = checked->reads().at(key)->expected().any();
    content->store = isOnRecord ? checked : std::move(store); // what compares also hashes
    const Result<SafetensorsHeader> header = SafetensorsHeader::read(*content->store, content->object, task);
    if (!header)
        return fail(content->reads->reasonOf(header.error(), task));
    content->tensors = header->tensors();
    std::sort(content->tensors.begin(), content->tensors.end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.info.name < b.info.name; });
    return FileState(std::move(content));
}

const ObjectStore& FileState::store() const noexcept { return *m_content->store; }
const ObjectInfo& FileState::object() const noexcept { return m_content->object; }

StatePlace FileState::place() const
{
    const bool isAdapter = splitKey(m_content->object.key).file == AdapterWeightsName;
    return { m_content->store->uri(), std::nullopt, true, isAdapter };
}

Result<std::optional<AdapterConfig>> FileState::adapterConfig(TaskContext& task) const
{
    const SplitKey key = splitKey(m_content->object.key);
    if (key.file != AdapterWeightsName)
        return std::nullopt;
    Result<AdapterConfig> config = readAdapterConfig(*m_content->store, joinKey(key.folder, AdapterConfigName), task);
    if (!config && config.error().code == Code::NotFound)
        return std::nullopt;
    if (!config)
        return fail(std::move(config.error()));
    return std::optional(std::move(*config));
}

std::optional<std::string_view> FileState::fileOf(std::size_t) const { return splitKey(m_content->object.key).file; }

Result<std::unique_ptr<StateWalk>> FileState::walk(std::vector<TensorSlice> slices, WalkOptions) const
{
    return std::unique_ptr<StateWalk>(
        std::make_unique<FileWalk>(m_content->tensors, *m_content->store, m_content->object, std::move(slices)));
}

Result<void> FileState::expectSoundReads(TaskContext& task) const { return m_content->reads->expectSound(false, task); }

std::vector<std::string> FileState::rewritten() const { return m_content->reads->rewritten(); }

std::vector<Error> FileState::readNotices() const { return m_content->reads->notices(); }

Error FileState::reasonOf(Error error, TaskContext& task) const
{
    return m_content->reads->reasonOf(std::move(error), task);
}

Result<void> FileState::expectUnchanged(TaskContext& task) const
{
    DS_CHECK(expectSoundReads(task));
    return expectSameObject(*m_content->store, m_content->object, task);
}

} // namespace deltascope
