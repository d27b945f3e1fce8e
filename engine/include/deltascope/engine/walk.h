#pragma once

#include "deltascope/engine/state.h"

#include <functional>
#include <type_traits>
#include <utility>

namespace deltascope {

// The only loops over the bytes of states. Everything that hashes, compares, counts, writes or measures them is a work.

/// What is done with one slice. Any thread; reads it to its end.
using SliceWork = std::function<Result<void>(std::size_t slice, SliceReader& reader)>;

/// Instead of a number of threads: one slice after another, in the order in which they are named.
constexpr unsigned InOrder = 0;

/// Does `work` with every slice of a walk on about `threads` threads. The first error ends it. Errors: those of the
/// walk and of `work`.
Result<WalkEvidence> walkTensors(StateWalk& walk, unsigned threads, TaskContext& task, const SliceWork& work);

/// Does `use` with every block of a slice, and adds its bytes to what the task has done.
template <class Use> Result<void> forEachBlock(SliceReader& reader, TaskContext& task, Use&& use)
{
    for (;;) {
        DS_TRY(const ByteSpan block, reader.next(task));
        if (block.empty())
            return {};
        if constexpr (std::is_void_v<std::invoke_result_t<Use&, ByteSpan>>)
            use(block);
        else
            DS_CHECK(use(block));
        task.addDone(block.size());
    }
}

/// Two slices of equally many elements side by side.
class PairReader {
public:
    /// Both outlive it. Elements of a sub-byte type must not be paired with those of another width.
    PairReader(SliceReader& a, SliceReader& b, unsigned bitsA, unsigned bitsB)
        : m_a { a, bitsA, {} }
        , m_b { b, bitsB, {} }
    {
    }

    struct Blocks {
        ByteSpan a, b; ///< of equally many elements; both are empty behind the last ones
    };
    /// Valid until the next call. Errors: Internal (one side has fewer elements), those of the readers.
    Result<Blocks> next(TaskContext& task);

private:
    struct Side {
        SliceReader& reader;
        unsigned bits; ///< of an element
        ByteSpan rest; ///< of its present block
    };
    Side m_a, m_b;
};

/// What is done with one pair of slices. Any thread; reads it to its end.
using PairWork = std::function<Result<void>(std::size_t pair, PairReader& reader)>;

struct PairEvidence {
    WalkEvidence a, b;
};

/// Does `work` with every pair of slices: the n-th of A beside the n-th of B. Errors: as walkTensors().
Result<PairEvidence> walkPairs(StateWalk& a, StateWalk& b, unsigned threads, TaskContext& task, const PairWork& work);

/// Does `use` with all blocks of a pair, and adds the bytes of B to what the task has done.
template <class Use> Result<void> forEachPair(PairReader& reader, TaskContext& task, Use&& use)
{
    for (;;) {
        DS_TRY(const PairReader::Blocks blocks, reader.next(task));
        if (blocks.b.empty())
            return {};
        if constexpr (std::is_void_v<std::invoke_result_t<Use&, ByteSpan, ByteSpan>>)
            use(blocks.a, blocks.b);
        else
            DS_CHECK(use(blocks.a, blocks.b));
        task.addDone(blocks.b.size());
    }
}

} // namespace deltascope
