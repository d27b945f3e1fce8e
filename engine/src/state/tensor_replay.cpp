#include "state/tensor_replay.h"

#include "base/scratch.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/path_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

/// Memory for the input buffers of all open streams of one replay.
constexpr std::uint64_t StreamMemory = 4U << 20;
constexpr std::size_t MaxStreams = 128;
/// Memory for what open streams hold beside their buffers (decompressors); one stream is always allowed.
constexpr std::uint64_t WorkingMemory = 16U << 20;

struct OpenStream {
    TensorLink from;
    std::unique_ptr<PatchStream> stream;
};

/// What was read for a block.
struct ReadBlock {
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<PatchPiece> pieces; ///< of the open streams, up to the one that failed
    std::optional<Error> failure;
};

Error inLink(Error error, const TensorLink& from)
{
    if (error.where.empty())
        error.where = from.version->objects.name;
    if (error.code != Code::Canceled)
        error = atStep(std::move(error), from.version->objects.step);
    return error;
}

}

struct TensorReplay::State {
    State(const TensorInfo& of, ReplayOptions with)
        : tensor(of)
        , options(std::move(with))
        , block(std::min(blockBytesOf(tensor.dtype), tensor.bytes()))
        , at(options.begin)
        , shown(options.begin)
        , end(std::min(options.end, tensor.bytes()))
    {
    }

    TensorInfo tensor;
    ReplayOptions options;
    std::vector<TensorLink> entries; ///< linksOf()
    std::size_t nextEntry = 0; ///< the first that is not open or done
    std::vector<OpenStream> open; ///< of the current stretch
    std::unique_ptr<Scratch> scratch; ///< the state behind the stretches before, if there were any
    std::vector<std::byte> block;
    std::unique_ptr<PatchBatches> batches; ///< null: blocks are replayed one by one
    std::optional<ReadBlock> untaken; ///< by a batch: replayed by itself in its turn, and nothing is read until then
    std::uint64_t at; ///< of what is read next
    std::uint64_t shown; ///< of what a batch returns next
    std::uint64_t end;

    std::uint64_t blockEnd(std::uint64_t begin, std::uint64_t limit) const
    {
        return std::min(limit, begin + blockBytesOf(tensor.dtype));
    }

    /// Opens the streams of the next stretch and brings them to `begin`.
    Result<void> openStretch(std::uint64_t begin, TaskContext& task)
    {
        open.clear();
        const std::size_t left = entries.size() - nextEntry;
        const std::size_t count = std::min(left, MaxStreams);
        StreamOptions streamOptions;
        streamOptions.task = &task;
        const std::uint64_t buffer =
            std::clamp<std::uint64_t>(StreamMemory / (2 * std::max<std::size_t>(1, count)), 8 * 1024, 512 * 1024);
        streamOptions.scratchFolder = options.means.scratchFolder;
        std::uint64_t working = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const TensorLink& from = entries[nextEntry + i];
            // Of a complete tensor nothing has to be read but the slice.
            streamOptions.bufferBytes = from.version->index.full ? std::min(buffer, end - begin) : buffer;
            Result<std::unique_ptr<PatchStream>> stream = from.version->layout->open(
                *from.version->store, from.version->objects, from.version->index, *from.entry, tensor, streamOptions);
            if (!stream)
                return fail(inLink(std::move(stream.error()), from));
            const Result<std::uint64_t> bytes = (*stream)->workingBytes();
            if (!bytes)
                return fail(inLink(bytes.error(), from));
            if (working > 0 && working + *bytes > WorkingMemory)
                break;
            working += *bytes;
            open.push_back(OpenStream { from, std::move(*stream) });
        }
        nextEntry += open.size();
        for (OpenStream& stream : open) {
            if (stream.stream->seekable())
                continue;
            for (std::uint64_t skipped = 0; skipped < begin;) {
                const std::uint64_t to = blockEnd(skipped, begin);
                if (Result<PatchPiece> piece = stream.stream->next(skipped, to); !piece)
                    return fail(inLink(std::move(piece.error()), stream.from));
                skipped = to;
            }
        }
        return {};
    }

    /// Brings one block through the open stretch. Valid until the next one.
    Result<ByteSpan> replayBlock(std::uint64_t begin, std::uint64_t stop, TaskContext& task)
    {
        DS_CHECK(task.checkpoint());
        if (!scratch && open.size() == 1)
            return onlyBlock(open.front(), begin, stop);
        const MutableByteSpan state(block.data(), stop - begin);
        if (scratch)
            DS_CHECK(scratch->read(begin, state));
        for (OpenStream& stream : open) {
            const Result<PatchPiece> piece = stream.stream->next(begin, stop);
            if (!piece)
                return fail(inLink(piece.error(), stream.from));
            apply(stream, *piece, begin, state);
        }
        return ByteSpan(state);
    }

    void apply(const OpenStream& stream, const PatchPiece& piece, std::uint64_t begin, MutableByteSpan state)
    {
        const bool first = !scratch && &stream == &open.front();
        PatchCounts counts;
        if (first) {
            std::copy_n(std::get<FullBlock>(piece).bytes.data(), state.size(), state.data());
        } else {
            if (options.observer)
                options.observer->onPiece(stream.from.link, begin, state, piece);
            counts = options.means.backend->apply(piece, state, tensor.dtype);
        }
        if (options.observer)
            options.observer->onBlock(stream.from.link, begin, state, counts);
    }

    /// The next block, replayed with those behind it.
    Result<ByteSpan> nextOfBatch(TaskContext& task)
    {
        DS_CHECK(task.checkpoint());
        while (!untaken && at < end && batches->takesMore()) {
            DS_CHECK(task.checkpoint());
            ReadBlock read = readBlock(at, blockEnd(at, end));
            at = read.end;
            if (!takenByBatch(read))
                untaken = std::move(read);
        }
        const PatchedBlock patched = batches->next();
        if (patched.bytes.empty() && untaken)
            return replayRead(*std::exchange(untaken, std::nullopt));
        if (options.observer && !patched.bytes.empty())
            show(patched);
        shown += patched.bytes.size();
        return patched.bytes;
    }

    ReadBlock readBlock(std::uint64_t begin, std::uint64_t stop)
    {
        ReadBlock read { begin, stop, {}, {} };
        for (OpenStream& stream : open) {
            const Result<PatchPiece> piece = stream.stream->next(begin, stop);
            if (!piece) {
                read.failure = inLink(piece.error(), stream.from);
                break;
            }
            read.pieces.push_back(*piece);
        }
        return read;
    }

    bool takenByBatch(const ReadBlock& read)
    {
        if (read.failure)
            return false;
        const std::span<const PatchPiece> all = read.pieces;
        const std::size_t bytes = read.end - read.begin;
        if (!scratch)
            return batches->add(std::get<FullBlock>(all.front()).bytes.first(bytes), all.subspan(1));
        const MutableByteSpan state(block.data(), bytes);
        return scratch->read(read.begin, state) && batches->add(state, all);
    }

    /// As replayBlock(), with what was read before.
    Result<ByteSpan> replayRead(const ReadBlock& read)
    {
        const MutableByteSpan state(block.data(), read.end - read.begin);
        if (scratch)
            DS_CHECK(scratch->read(read.begin, state));
        for (std::size_t i = 0; i < read.pieces.size(); ++i)
            apply(open[i], read.pieces[i], read.begin, state);
        if (read.failure)
            return fail(*read.failure);
        shown = read.end;
        return ByteSpan(state);
    }

    /// Shows what replayBlock() would have shown.
    void show(const PatchedBlock& patched)
    {
        ReplayObserver& observer = *options.observer;
        const bool each = !patched.states.empty(); // else the observer only counts
        const std::size_t made = scratch ? 0 : 1; // the first link makes the state
        if (made > 0)
            observer.onBlock(open.front().from.link, shown, each ? patched.states.front() : ByteSpan(), {});
        for (std::size_t i = 0; i < patched.counts.size(); ++i) {
            const std::size_t link = open[made + i].from.link;
            if (each)
                observer.onPiece(link, shown, patched.states[i], patched.pieces[i]);
            observer.onBlock(link, shown, each ? patched.states[i + 1] : ByteSpan(), patched.counts[i]);
        }
    }

    /// The block of a full tensor that nothing is applied to: it need not be copied.
    Result<ByteSpan> onlyBlock(OpenStream& stream, std::uint64_t begin, std::uint64_t stop)
    {
        const Result<PatchPiece> piece = stream.stream->next(begin, stop);
        if (!piece)
            return fail(inLink(piece.error(), stream.from));
        const ByteSpan state = std::get<FullBlock>(*piece).bytes.first(stop - begin);
        if (options.observer)
            options.observer->onBlock(stream.from.link, begin, state, {});
        return state;
    }

    /// Nothing may be left over in streams that were read to their end.
    Result<void> finishStretch()
    {
        if (end != tensor.bytes())
            return {};
        for (OpenStream& stream : open) {
            if (Result<void> outcome = stream.stream->finish(); !outcome)
                return fail(inLink(std::move(outcome.error()), stream.from));
        }
        return {};
    }

    /// Replays all stretches but the last into scratch files.
    Result<void> prepare(TaskContext& task)
    {
        DS_CHECK(openStretch(at, task));
        while (nextEntry < entries.size()) {
            DS_TRY(std::unique_ptr<Scratch> result, Scratch::create(options.means.scratchFolder));
            for (std::uint64_t begin = at; begin < end;) {
                const std::uint64_t stop = blockEnd(begin, end);
                DS_TRY(const ByteSpan state, replayBlock(begin, stop, task));
                DS_CHECK(result->write(begin, state));
                begin = stop;
            }
            DS_CHECK(finishStretch());
            scratch = std::move(result);
            DS_CHECK(openStretch(at, task));
        }
        return {};
    }
};

Result<std::vector<TensorLink>> linksOf(const PathState& path, const TensorInfo& tensor, bool observed)
{
    std::vector<TensorLink> links;
    for (std::size_t i = 0; i < path.links().size(); ++i) {
        const OpenVersion& version = *path.links()[i];
        const TensorEntry* const entry = version.index.find(tensor.name);
        if (!entry)
            continue;
        const bool fits = entry->info() && entry->info()->dtype == tensor.dtype && entry->info()->shape == tensor.shape;
        if (version.index.full && (!observed || !fits))
            links.clear();
        // A patch of a state that a full one of another shape replaces later has nothing to apply to.
        if (fits || (!version.index.full && !links.empty()))
            links.push_back(TensorLink { i, &version, entry });
    }
    if (links.empty() || !links.front().version->index.full)
        return fail(Code::BaseMismatch, fmt::format("no state holds tensor {}", tensor.name));
    return links;
}

void ReplayObserver::onPiece(std::size_t, std::uint64_t, ByteSpan, const PatchPiece&) { }

TensorReplay::TensorReplay(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}
TensorReplay::TensorReplay(TensorReplay&&) noexcept = default;
TensorReplay& TensorReplay::operator=(TensorReplay&&) noexcept = default;
TensorReplay::~TensorReplay() = default;

Result<TensorReplay> TensorReplay::open(const PathState& chain, const TensorInfo& tensor, ReplayOptions options,
                                        TaskContext& task)
{
    auto state = std::make_unique<State>(tensor, std::move(options));
    DS_TRY(state->entries, linksOf(chain, tensor, state->options.observer != nullptr));
    DS_CHECK(state->prepare(task));
    const ReplayObserver* const observer = state->options.observer;
    const bool isWatched = observer && observer->looksAtBlocks();
    if (state->scratch || state->open.size() > 1)
        state->batches =
            state->options.means.backend->patch(tensor.dtype, isWatched ? PatchedStates::Each : PatchedStates::Last);
    return TensorReplay(std::move(state));
}

Result<ByteSpan> TensorReplay::next(TaskContext& task)
{
    State& state = *m_state;
    if (state.batches) {
        DS_TRY(const ByteSpan block, state.nextOfBatch(task));
        if (!block.empty())
            return block;
    }
    if (state.at >= state.end) {
        DS_CHECK(state.finishStretch());
        return ByteSpan {};
    }
    const std::uint64_t stop = state.blockEnd(state.at, state.end);
    DS_TRY(const ByteSpan block, state.replayBlock(state.at, stop, task));
    state.at = stop;
    return block;
}

} // namespace deltascope
