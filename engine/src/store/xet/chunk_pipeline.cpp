#include "store/xet/chunk_pipeline.h"

#include "deltascope/engine/parallel.h"
#include "store/xet/chunker.h"

#include <algorithm>
#include <utility>

namespace deltascope::xet {

std::optional<Scheme> SchemeChoice::next() noexcept
{
    constexpr std::uint64_t Stride = 16;
    return m_chunks++ % Stride == 0 ? std::nullopt : m_winner;
}

void SchemeChoice::decide() noexcept
{
    const auto best = std::max_element(m_wins.begin(), m_wins.end());
    if (*best > 0)
        m_winner = static_cast<Scheme>(best - m_wins.begin());
    m_wins.fill(0);
}

ChunkPipeline::ChunkPipeline(XorbFiller& filler, unsigned threads, bool compresses)
    : m_filler(filler)
    , m_threads(std::max(1U, threads))
    , m_compresses(compresses)
    , m_encoders(m_threads)
    , m_block(freeBlock())
{
}

MutableByteSpan ChunkPipeline::room() { return m_block->room().subspan(m_block->filled); }

Result<void> ChunkPipeline::filled(std::size_t bytes, TaskContext& task)
{
    m_block->filled += bytes;
    return m_block->filled == FileBlock::RoomBytes ? runStep(false, task) : Result<void>();
}

Result<FileRecord> ChunkPipeline::finishFile(TaskContext& task)
{
    while (m_block->filled > 0 || !m_cut.empty())
        DS_CHECK(runStep(true, task));
    std::vector<FreshChunk> rest;
    FileRecord file = m_filler.finishFile(rest);
    m_fresh.insert(m_fresh.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    if (!m_fresh.empty())
        DS_CHECK(runStep(true, task));
    m_choice = {};
    return file;
}

Result<void> ChunkPipeline::runStep(bool isEnd, TaskContext& task)
{
    constexpr std::size_t ItemsPerThread = 4; // fewer are done sooner than a thread is started
    Step step;
    step.records.resize(m_fresh.size());
    m_schemes.clear();
    m_slots.clear();
    std::size_t slotBytes = 0;
    for (const FreshChunk& fresh : m_fresh) {
        m_schemes.push_back(m_compresses ? m_choice.next() : Scheme::None);
        m_slots.push_back(slotBytes);
        slotBytes += fresh.cut.chunk.bytes;
    }
    m_encoded.resize(std::max(m_encoded.size(), slotBytes));
    const std::size_t items = m_cut.size() + m_fresh.size();
    const auto threads = static_cast<unsigned>(std::min<std::size_t>(m_threads, 1 + items / ItemsPerThread));
    DS_CHECK(forEachParallel(threads, threads, task, [&](std::size_t thread) {
        if (thread == 0)
            cutBlock(isEnd, step);
        for (std::size_t item = step.next++; item < items; item = step.next++)
            workItem(item, step, m_encoders[thread]);
        return Result<void>();
    }));
    appendRecords(step);
    m_fresh.clear();
    for (CutChunk& chunk : m_cut)
        m_filler.take(std::move(chunk), m_fresh);
    m_cut = std::move(step.cut);
    nextBlock(step.cutBytes);
    return {};
}

void ChunkPipeline::cutBlock(bool isEnd, Step& step) const
{
    const ByteSpan bytes = m_block->room().first(m_block->filled);
    while (const std::size_t length = nextChunkBytes(bytes.subspan(step.cutBytes), isEnd)) {
        step.cut.push_back({ m_block, step.cutBytes, { {}, static_cast<std::uint32_t>(length) } });
        step.cutBytes += length;
    }
}

void ChunkPipeline::workItem(std::size_t item, Step& step, RecordEncoder& encoder)
{
    if (item < m_cut.size())
        m_cut[item].chunk.hash = chunkHash(m_cut[item].span());
    else
        encode(item - m_cut.size(), step, encoder);
}

void ChunkPipeline::encode(std::size_t place, Step& step, RecordEncoder& encoder)
{
    const ByteSpan chunk = m_fresh[place].cut.span();
    const std::optional<Scheme> scheme = m_schemes[place];
    Record record = scheme ? encoder.encode(chunk, *scheme) : encoder.encodeSmallest(chunk);
    if (record.scheme != Scheme::None) { // else its data is the chunk itself
        const MutableByteSpan slot = MutableByteSpan(m_encoded).subspan(m_slots[place], record.data.size());
        std::copy(record.data.begin(), record.data.end(), slot.begin());
        record.data = slot;
    }
    step.records[place] = record;
}

void ChunkPipeline::appendRecords(const Step& step)
{
    for (std::size_t i = 0; i < m_fresh.size(); ++i) {
        FilledXorb& xorb = *m_fresh[i].xorb;
        appendRecord(step.records[i], xorb.body);
        ++xorb.records;
        if (!m_schemes[i])
            m_choice.won(step.records[i].scheme);
    }
    m_choice.decide();
}

void ChunkPipeline::nextBlock(std::size_t cutBytes)
{
    if (cutBytes == 0 && m_block->filled < FileBlock::RoomBytes)
        return;
    const std::shared_ptr<FileBlock> last = std::exchange(m_block, freeBlock());
    const ByteSpan rest = last->room().subspan(cutBytes, last->filled - cutBytes);
    std::copy(rest.begin(), rest.end(), m_block->room().begin());
    m_block->filled = rest.size();
}

std::shared_ptr<FileBlock> ChunkPipeline::freeBlock()
{
    for (const std::shared_ptr<FileBlock>& block : m_blocks) {
        if (block.use_count() == 1) {
            block->filled = 0;
            return block;
        }
    }
    m_blocks.push_back(std::make_shared<FileBlock>());
    return m_blocks.back();
}

} // namespace deltascope::xet
