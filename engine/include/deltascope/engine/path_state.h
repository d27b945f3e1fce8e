#pragma once

#include "deltascope/base/task.h"
#include "deltascope/engine/patch.h"
#include "deltascope/engine/plan.h"
#include "deltascope/engine/state.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace deltascope {

/// A version with its whole index in memory, ready to be streamed.
struct OpenVersion {
    std::shared_ptr<const ObjectStore> store;
    std::shared_ptr<const Layout> layout;
    VersionObjects objects;
    VersionIndex index;
};

class Records;

/// What to do where an object is replaced between the listing and a read.
enum class Replaced : std::uint8_t {
    Fails, ///< the read ends with Rewritten: what is learned is of the objects that were listed
    /// What has taken its place is read, and expectSoundReads() compares what was read with what the store holds by
    /// then: a result may take long, and an object that is written again with the same bytes does not end it.
    Followed,
};

/// What every read of a run is compared with.
struct ReadRules {
    unsigned threads = 1; ///< to open with, and to compare with
    Records* records = nullptr; ///< outlives the path; null: nothing is on record
    /// Reads objects that were rewritten since they were first seen instead of refusing them.
    bool acceptRewritten = false;
    Replaced replaced = Replaced::Fails;
};

/// A state by versions that are applied one after another, its links. The first one is full. Immutable and shared
/// between threads.
class PathState : public State {
public:
    virtual const std::vector<std::shared_ptr<const OpenVersion>>& links() const noexcept = 0;
    /// Index of the link in Run::versions; nothing for an external base.
    virtual std::optional<std::size_t> versionOf(std::size_t link) const noexcept = 0;
    /// Which form of its version the link is (Version::objectsOf()).
    virtual std::size_t formOf(std::size_t link) const noexcept = 0;
    /// Whether the link gives every tensor of the state, so that nothing before it counts.
    virtual bool isComplete(std::size_t link) const noexcept = 0;
    /// Whether the link is a complete form beside the own objects of its version.
    bool isFullForm(std::size_t link) const noexcept { return formOf(link) > 0 && isComplete(link); }
    /// Whether the first link is a checkpoint outside of the source.
    bool onExternalBase() const noexcept { return links().size() > 1 && !versionOf(0); }

    /// As walk(), but compares nothing: the observer judges.
    virtual std::unique_ptr<StateWalk> replay(std::vector<TensorSlice> slices, WalkOptions options) const = 0;
    /// As expectSoundReads(), and reads all of what is on record, for results that an earlier process has begun.
    virtual Result<void> expectSoundObjects(TaskContext& task) const = 0;
    /// Reads all of each object that is on record under another identity, and compares it. Errors: Digest, Rewritten,
    /// those of the stores.
    virtual Result<void> expectKnownObjects(TaskContext& task) const = 0;
};

using PathPtr = std::shared_ptr<const PathState>; ///< never null in a result

/// Reads the indices of every link, and compares their payload with what they record about it; where versions stand
/// alone, that reads a whole checkpoint, and checkWhole() does it. State::tensors() is over what the links hold.
/// State::expectRecorded() names the first link behind which the state is not the recorded one; to find it the path is
/// replayed once more. Errors: those of Layout::index and Layout::checkPayload for the first link that has one, with
/// the step.
/// Each read is compared with the leaves that Records hold; expectSoundReads(), called behind the last read, compares
/// those that were read in pieces. Errors: also Digest, Rewritten. readNotices() reports damaged records.
Result<PathPtr> openPath(const Run& run, const Plan& plan, const ReadRules& rules, TaskContext& task);

/// Told about each block after each link that touches the tensor. `state` is the block behind the link.
/// Called on the thread that drives the replay, in the order of blocks within a link.
class ReplayObserver {
public:
    virtual ~ReplayObserver() = default;
    /// False: it only counts. Then `state` may be empty, and onPiece() may not be called. Asked before the first block.
    virtual bool looksAtBlocks() const { return true; }
    /// Before the piece of a link is applied to `state`. Not called for the first link, which makes the state.
    virtual void onPiece(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchPiece& piece);
    virtual void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) = 0;
};

} // namespace deltascope
