#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "store/xet/xorb_filler.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::xet {

/// Which compression is tried for the chunks of a file: all of them at first and for each 16th chunk, else the one that
/// won lately.
class SchemeChoice {
public:
    /// For the next chunk; nothing: try all.
    std::optional<Scheme> next() noexcept;
    /// What was best for a chunk for which all were tried.
    void won(Scheme scheme) noexcept { ++m_wins[static_cast<std::size_t>(scheme)]; }
    /// The chunks so far are done; the wins since the last call decide.
    void decide() noexcept;

private:
    std::uint64_t m_chunks = 0;
    std::array<unsigned, 3> m_wins {};
    std::optional<Scheme> m_winner;
};

/// Turns the bytes of a file into records of xorbs. Three blocks are worked on at once: one is cut, the one before it
/// is hashed, and of the one before that the chunks that are new are compressed, on several threads. For one thread.
class ChunkPipeline {
public:
    ChunkPipeline(XorbFiller& filler, unsigned threads, bool compresses);

    /// Where the next bytes of the file go; never empty.
    MutableByteSpan room();
    /// The front of room() was filled. Works when the block is full. Errors: Canceled.
    Result<void> filled(std::size_t bytes, TaskContext& task);
    /// The file ends: all of it is in xorbs. Errors: Canceled.
    Result<FileRecord> finishFile(TaskContext& task);

private:
    /// What one step works on.
    struct Step {
        std::size_t cutBytes = 0; ///< of m_block, that ended up in chunks
        std::vector<CutChunk> cut; ///< chunks of m_block
        std::vector<Record> records; ///< of m_fresh
        std::atomic<std::size_t> next = 0; ///< item that a thread takes
    };

    Result<void> runStep(bool isEnd, TaskContext& task);
    void cutBlock(bool isEnd, Step& step) const;
    void workItem(std::size_t item, Step& step, RecordEncoder& encoder);
    void encode(std::size_t place, Step& step, RecordEncoder& encoder);
    void appendRecords(const Step& step);
    void nextBlock(std::size_t cutBytes);
    std::shared_ptr<FileBlock> freeBlock();

    XorbFiller& m_filler;
    const unsigned m_threads;
    const bool m_compresses;
    std::vector<RecordEncoder> m_encoders; ///< one per thread
    std::vector<std::shared_ptr<FileBlock>> m_blocks; ///< all there are
    std::shared_ptr<FileBlock> m_block; ///< is filled
    std::vector<CutChunk> m_cut; ///< to be hashed
    std::vector<FreshChunk> m_fresh; ///< to be compressed
    std::vector<std::optional<Scheme>> m_schemes; ///< for m_fresh; nothing: try all
    std::vector<std::size_t> m_slots; ///< where in m_encoded the records of m_fresh may keep their data
    std::vector<std::byte> m_encoded;
    SchemeChoice m_choice;
};

} // namespace deltascope::xet
