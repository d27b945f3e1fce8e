#include "store/xet/upload.h"

#include "store/xet/cas_client.h"
#include "store/xet/chunk_pipeline.h"
#include "store/xet/chunker.h"
#include "store/xet/shard_post.h"
#include "store/xet/xorb_queue.h"

#include <algorithm>
#include <thread>
#include <unordered_set>
#include <utility>

namespace deltascope::xet {

namespace {

unsigned threadsToUse(const UploadOptions& options)
{
    constexpr unsigned MostThreads = 8;
    return options.threads > 0 ? options.threads : std::clamp(std::thread::hardware_concurrency(), 1U, MostThreads);
}

std::uint32_t xorbBytesToUse(const UploadOptions& options)
{
    constexpr auto Heads = static_cast<std::uint32_t>(MostXorbChunks * RecordHeadBytes);
    return std::clamp(options.xorbBytes, static_cast<std::uint32_t>(MostChunkBytes),
                      static_cast<std::uint32_t>(MostXorbBytes) - Heads);
}

}

class Upload::Core {
public:
    Core(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access, std::shared_ptr<KnownChunks> known,
         const UploadOptions& options)
        : m_xorbBytes(xorbBytesToUse(options))
        , m_shardBytes(options.shardBytes)
        , m_known(known ? std::move(known) : std::make_shared<KnownChunks>())
        , m_cas(std::move(sender), std::move(access))
        , m_filler(m_known, m_xorbBytes)
        , m_pipeline(m_filler, threadsToUse(options), options.compresses)
        , m_shards(m_cas, options.clock)
        , m_queue(m_cas, std::max(1U, options.sends), options.onXorb)
    {
    }

    Result<void> append(ByteSpan bytes, TaskContext& task);
    Result<void> appendAll(const Payload& file, TaskContext& task);
    Result<FileEntry> finish(TaskContext& task);
    Result<void> commit(TaskContext& task);
    std::uint64_t sentBytes() const { return m_queue.sentBytes(); }

    /// Runs `work` unless the session has failed; its error ends it.
    template <class Work> auto guarded(Work work) -> decltype(work())
    {
        if (m_error)
            return fail(*m_error);
        auto outcome = work();
        if (!outcome)
            m_error = outcome.error();
        return outcome;
    }

private:
    Result<void> filled(std::size_t bytes, TaskContext& task);
    /// Hands xorbs that are whole to the queue, and prepares the memory of new ones.
    Result<void> sendWhole(TaskContext& task);
    /// Registers what is sent. `withFiles`: all files so far, whose xorbs are closed then.
    Result<void> postShard(bool withFiles, TaskContext& task);
    Shard shardSoFar(bool withFiles) const;

    const std::uint32_t m_xorbBytes;
    const std::size_t m_shardBytes;
    const std::shared_ptr<KnownChunks> m_known;
    CasClient m_cas;
    XorbFiller m_filler;
    ChunkPipeline m_pipeline;
    ShardPost m_shards;
    std::vector<FileRecord> m_files; ///< that are not registered yet
    std::size_t m_fileRows = 0; ///< of a shard, for m_files
    std::size_t m_queued = 0; ///< xorbs of m_filler that the queue has
    bool m_hasBegun = false; ///< a file
    std::optional<Error> m_error;
    XorbQueue m_queue; ///< last: it uses m_cas until its end
};

Result<void> Upload::Core::append(ByteSpan bytes, TaskContext& task)
{
    m_hasBegun = true;
    while (!bytes.empty()) {
        const MutableByteSpan room = m_pipeline.room();
        const std::size_t count = std::min(room.size(), bytes.size());
        std::copy_n(bytes.begin(), count, room.begin());
        DS_CHECK(filled(count, task));
        bytes = bytes.subspan(count);
    }
    return {};
}

Result<void> Upload::Core::appendAll(const Payload& file, TaskContext& task)
{
    if (m_hasBegun)
        return fail(Code::Usage, "a file is added while another one is not finished");
    m_hasBegun = true;
    for (std::uint64_t offset = 0; offset < file.sizeBytes();) {
        const MutableByteSpan room = m_pipeline.room();
        const std::size_t count = std::min<std::uint64_t>(room.size(), file.sizeBytes() - offset);
        DS_TRY(const std::size_t taken, file.read(offset, room.first(count)));
        if (taken == 0)
            return fail(Code::Truncated, "what is to be sent ends early");
        DS_CHECK(filled(taken, task));
        offset += taken;
    }
    return {};
}

Result<void> Upload::Core::filled(std::size_t bytes, TaskContext& task)
{
    constexpr std::size_t WithinFile = 3; // a shard holds files where it can
    DS_CHECK(m_pipeline.filled(bytes, task));
    DS_CHECK(sendWhole(task));
    if (m_filler.shardRows() * ShardRowBytes <= WithinFile * m_shardBytes)
        return {};
    return postShard(false, task);
}

Result<FileEntry> Upload::Core::finish(TaskContext& task)
{
    DS_TRY(FileRecord file, m_pipeline.finishFile(task));
    DS_CHECK(sendWhole(task));
    m_hasBegun = false;
    const FileEntry entry { file.hash(), file.bytes() };
    m_fileRows += file.shardRows();
    m_files.push_back(std::move(file));
    if ((m_filler.shardRows() + m_fileRows) * ShardRowBytes > m_shardBytes)
        DS_CHECK(postShard(true, task));
    return entry;
}

Result<void> Upload::Core::commit(TaskContext& task)
{
    if (m_hasBegun)
        return fail(Code::Usage, "an upload is committed while a file is not finished");
    return postShard(true, task);
}

Result<void> Upload::Core::sendWhole(TaskContext& task)
{
    constexpr std::size_t RoomForHeads = std::size_t { 64 } << 10;
    const auto& xorbs = m_filler.xorbs();
    while (m_queued < xorbs.size() && xorbs[m_queued]->isWhole()) {
        FilledXorb& xorb = *xorbs[m_queued];
        DS_CHECK(m_queue.push(xorb.content->hash, std::move(xorb.body), task));
        ++m_queued;
    }
    for (std::size_t i = m_queued; i < xorbs.size(); ++i) {
        if (xorbs[i]->body.capacity() == 0) {
            xorbs[i]->body = m_queue.takeSpare();
            xorbs[i]->body.reserve(m_xorbBytes + RoomForHeads);
        }
    }
    return {};
}

Result<void> Upload::Core::postShard(bool withFiles, TaskContext& task)
{
    if (withFiles) {
        m_filler.closeXorb();
        DS_CHECK(sendWhole(task));
    }
    DS_CHECK(m_queue.drain(task));
    Shard shard = shardSoFar(withFiles);
    if (shard.files.empty() && shard.xorbs.empty())
        return {};
    bool isRefused = false;
    Result<void> outcome = m_shards.send(writeShard(std::move(shard)), isRefused, task);
    if (!outcome && isRefused && m_filler.usesKnown()) {
        m_known->clear();
        outcome = fail(Code::Transient, "the store has lost what earlier uploads left there, so all must be sent again",
                       outcome.error().where);
    }
    DS_CHECK(outcome);
    m_filler.forgetXorbs(m_queued);
    m_queued = 0;
    if (withFiles) {
        m_files.clear();
        m_fileRows = 0;
    }
    return {};
}

Shard Upload::Core::shardSoFar(bool withFiles) const
{
    Shard shard;
    std::unordered_set<Hash, HashOfHash> seen;
    for (std::size_t i = 0; i < m_queued; ++i) {
        const KnownXorb& xorb = *m_filler.xorbs()[i]->content;
        if (seen.insert(xorb.hash).second)
            shard.xorbs.push_back({ xorb.hash, xorb.chunks });
    }
    seen.clear();
    for (const FileRecord& file : m_files) {
        if (withFiles && seen.insert(file.hash()).second)
            shard.files.push_back(file.shardFile());
    }
    return shard;
}

Upload::Upload(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access,
               std::shared_ptr<KnownChunks> known, const UploadOptions& options)
    : m_core(std::make_unique<Core>(std::move(sender), std::move(access), std::move(known), options))
{
}

Upload::~Upload() = default;

Result<FileEntry> Upload::add(const Payload& file, TaskContext& task)
{
    return m_core->guarded([&]() -> Result<FileEntry> {
        DS_CHECK(m_core->appendAll(file, task));
        return m_core->finish(task);
    });
}

Result<void> Upload::append(ByteSpan bytes, TaskContext& task)
{
    return m_core->guarded([&] { return m_core->append(bytes, task); });
}

Result<FileEntry> Upload::finish(TaskContext& task)
{
    return m_core->guarded([&] { return m_core->finish(task); });
}

Result<void> Upload::commit(TaskContext& task)
{
    return m_core->guarded([&] { return m_core->commit(task); });
}

std::uint64_t Upload::sentBytes() const { return m_core->sentBytes(); }

} // namespace deltascope::xet
