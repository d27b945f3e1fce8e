#include "format/common/read_chunks.h"

#include <algorithm>
#include <vector>

namespace deltascope {

namespace {

constexpr std::uint64_t LeastChunkBytes = 512U << 10;
constexpr std::uint64_t MostChunkBytes = 4U << 20;

/// Gives back what it has taken.
class TakenRequests {
public:
    TakenRequests(SpareRequests& spare, std::size_t wanted)
        : m_spare(spare)
        , m_count(spare.take(wanted))
    {
    }
    ~TakenRequests() { m_spare.giveBack(m_count); }
    TakenRequests(const TakenRequests&) = delete;
    TakenRequests& operator=(const TakenRequests&) = delete;
    std::size_t count() const noexcept { return m_count; }

private:
    SpareRequests& m_spare;
    std::size_t m_count;
};

} // namespace

Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, SpareRequests& spare, const std::function<void(ByteSpan)>& show)
{
    const std::uint64_t requestBytes = store.traits().requestBytes;
    const std::uint64_t chunkBytes = std::clamp(requestBytes, LeastChunkBytes, MostChunkBytes);
    std::vector<std::byte> batch;
    for (std::uint64_t at = 0; at < bytes; at += batch.size()) {
        DS_CHECK(task.checkpoint());
        const std::uint64_t chunks = (bytes - at + chunkBytes - 1) / chunkBytes;
        const TakenRequests more(spare, requestBytes < LeastChunkBytes ? 0 : chunks - 1);
        const std::uint64_t batchBytes = std::min((1 + more.count()) * chunkBytes, bytes - at);
        if (batch.size() > batchBytes)
            std::vector<std::byte>().swap(batch); // its memory belongs to requests that others have now
        batch.resize(batchBytes);
        std::vector<RangeRead> reads;
        for (std::uint64_t done = 0; done < batch.size(); done += chunkBytes)
            reads.push_back({ key, begin + at + done,
                              MutableByteSpan(batch).subspan(done, std::min(chunkBytes, batch.size() - done)) });
        for (const Result<void>& outcome : store.readMany(reads, task))
            DS_CHECK(outcome);
        for (const RangeRead& read : reads)
            show(read.out);
    }
    return {};
}

Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, const std::function<void(ByteSpan)>& show)
{
    SpareRequests spare(3);
    return readChunks(store, key, begin, bytes, task, spare, show);
}

} // namespace deltascope
