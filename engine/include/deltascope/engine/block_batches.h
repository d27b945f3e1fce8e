#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/patch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace deltascope {

// Blocks of a tensor, one after another, for a Backend that works on many of them at a time. What they take is used or
// copied at once, so it may change after the call. One thread; the backend outlives them.

/// Takes equally long blocks of two tensors, and hands over what it finds, in order: at once, or with a later call.
class PairBatches {
public:
    virtual ~PairBatches() = default;
    /// Errors: those of who takes over what is found.
    virtual Result<void> add(ByteSpan before, ByteSpan after) = 0;
    /// Behind the last block: hands over what is left. Errors: as add().
    virtual Result<void> finish() = 0;

    /// Calls `use` with each pair, and nothing else.
    static std::unique_ptr<PairBatches> atOnce(std::function<Result<void>(ByteSpan before, ByteSpan after)> use);
};

/// A pair of blocks and what changed between them, valid during a call: ascending positions, relative to the block, and
/// their new bits.
struct ChangedBlock {
    ByteSpan before;
    ByteSpan after;
    std::span<const std::uint32_t> positions;
    ByteSpan values;
};
using UseChanges = std::function<Result<void>(const ChangedBlock&)>;

/// Which states of a block a PatchBatches returns: the one behind all of its pieces, or one behind each of them, too.
enum class PatchedStates : std::uint8_t { Last, Each };

/// A block behind all of its pieces, and what each of them did; valid until the next call.
struct PatchedBlock {
    ByteSpan bytes;
    std::span<const PatchCounts> counts;
    // PatchedStates::Each alone:
    std::span<const PatchPiece> pieces; ///< that were applied
    std::span<const ByteSpan> states; ///< in front of the first piece, and behind each one
};

/// Takes blocks of one tensor with what several versions change in them, and returns them changed, in order.
class PatchBatches {
public:
    virtual ~PatchBatches() = default;
    /// Whether it takes one more block before next().
    virtual bool takesMore() const = 0;
    /// The next block, and the pieces that were read for it, which are applied in order. False: it does not take this
    /// one, which is the caller's to patch; its turn is behind all that were taken.
    [[nodiscard]] virtual bool add(ByteSpan block, std::span<const PatchPiece> pieces) = 0;
    /// The first block that was taken and not returned yet; without bytes: there is none.
    virtual PatchedBlock next() = 0;
};

} // namespace deltascope
