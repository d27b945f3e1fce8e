#include "deltascope/engine/walk.h"

#include "deltascope/engine/parallel.h"

#include <algorithm>

namespace deltascope {

Result<WalkEvidence> walkTensors(StateWalk& walk, unsigned threads, TaskContext& task, const SliceWork& work)
{
    const unsigned atOnce = threads == InOrder ? 1 : walk.readersAtOnce(threads);
    const auto ahead = walk.readAhead(task);
    DS_CHECK(forEachParallel(atOnce, walk.size(), task, [&](std::size_t slice) -> Result<void> {
        DS_TRY(const std::unique_ptr<SliceReader> reader, walk.open(slice, task));
        return work(slice, *reader);
    }));
    return walk.finish();
}

Result<PairReader::Blocks> PairReader::next(TaskContext& task)
{
    for (Side* const side : { &m_a, &m_b }) {
        if (side->rest.empty()) {
            DS_TRY(side->rest, side->reader.next(task));
        }
    }
    const std::uint64_t elements = std::min(m_a.rest.size() * 8 / m_a.bits, m_b.rest.size() * 8 / m_b.bits);
    if (elements == 0 && !(m_a.rest.empty() && m_b.rest.empty()))
        return fail(Code::Internal, "one of two slices side by side has fewer elements");
    const auto take = [&](Side& side) {
        const ByteSpan taken = side.rest.first(elements * side.bits / 8);
        side.rest = side.rest.subspan(taken.size());
        return taken;
    };
    const ByteSpan a = take(m_a);
    return Blocks { a, take(m_b) };
}

Result<PairEvidence> walkPairs(StateWalk& a, StateWalk& b, unsigned threads, TaskContext& task, const PairWork& work)
{
    const unsigned atOnce = threads == InOrder ? 1 : std::max(a.readersAtOnce(threads), b.readersAtOnce(threads));
    const auto aheadOfA = a.readAhead(task);
    const auto aheadOfB = b.readAhead(task);
    DS_CHECK(forEachParallel(atOnce, std::min(a.size(), b.size()), task, [&](std::size_t pair) -> Result<void> {
        DS_TRY(const std::unique_ptr<SliceReader> left, a.open(pair, task));
        DS_TRY(const std::unique_ptr<SliceReader> right, b.open(pair, task));
        PairReader reader(*left, *right, bitsOf(a.tensor(pair).dtype), bitsOf(b.tensor(pair).dtype));
        return work(pair, reader);
    }));
    PairEvidence evidence;
    DS_TRY(evidence.a, a.finish());
    DS_TRY(evidence.b, b.finish());
    return evidence;
}

} // namespace deltascope
