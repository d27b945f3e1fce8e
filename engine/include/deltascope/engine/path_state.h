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

class CheckedReads;
class Records;

/// How what is read of a run is held against what is on record of it.
struct ReadRules {
    Records* records = nullptr; ///< outlives the chain; null: nothing is on record
    /// Reads objects that were rewritten since they were first seen instead of refusing them.
    bool acceptRewritten = false;
    unsigned threads = 1;
};

/// A state by versions that are applied one after another. The first one is full. Immutable and shared between threads.
class Chain final : public State {
public:
    /// Reads the indices of every link, and compares their payload with what they record about it; where versions stand
    /// alone, that reads a whole checkpoint, and checkWhole() does it. Reads on `threads` threads. Errors: those of
    /// Layout::index and Layout::checkPayload for the first link that has one, with the step.
    static Result<Chain> open(const Run& run, const Plan& plan, unsigned threads, TaskContext& task);
    /// As open(), and every object of the plan is watched. Where leaves of it are on record (Records), what is read of
    /// it has to be what they say; where it changes meanwhile, what was used has to be what stands there in the end.
    /// Without a call of expectSoundReads() behind the last read that is not known. Errors: also Digest, Rewritten.
    /// Damaged records are told by readNotices().
    static Result<Chain> open(const Run& run, const Plan& plan, const ReadRules& rules, TaskContext& task);
    Result<void> checkWhole(TaskContext& task) const override;

    const std::vector<std::shared_ptr<const OpenVersion>>& links() const noexcept { return m_links; }
    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); } ///< over what the links hold
    StatePlace place() const override;
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override;
    /// As walk(), but compares nothing: the observer judges.
    std::unique_ptr<StateWalk> replay(std::vector<TensorSlice> slices, WalkOptions options) const;
    bool hasDigests() const noexcept override;
    Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const override;
    /// Errors: Digest, of the first link behind which the state is not the recorded one; to find it the chain is
    /// replayed once more.
    Result<void> expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const override;
    /// Index of the link in Run::versions; nothing for an external base.
    std::optional<std::size_t> versionOf(std::size_t link) const noexcept { return m_versions[link]; }
    /// Which form of its version the link is (Version::objectsOf()).
    std::size_t formOf(std::size_t link) const noexcept { return m_forms[link]; }
    /// Whether the link is a complete form beside the own objects of its version.
    bool isFullForm(std::size_t link) const noexcept { return m_forms[link] > 0 && m_complete[link]; }
    /// Whether the link gives every tensor of the state, so that nothing before it counts.
    bool isComplete(std::size_t link) const noexcept { return m_complete[link]; }
    /// Reads again what was read in pieces. Does nothing for a chain that is not watched.
    Result<void> expectSoundReads(TaskContext& task) const override;
    /// As expectSoundReads(), and reads all of what is on record, for results that an earlier process has begun.
    Result<void> expectSoundObjects(TaskContext& task) const;
    Result<void> expectUnchanged(TaskContext& task) const override;
    Error reasonOf(Error error, TaskContext& task) const override;
    std::vector<std::string> rewritten() const override;
    std::vector<Error> readNotices() const override;

    /// Whether the first link is a checkpoint outside of the source.
    bool onExternalBase() const noexcept { return m_links.size() > 1 && !m_versions.front(); }

private:
    static Result<Chain> openThrough(const Run& run, const Plan& plan, std::shared_ptr<CheckedReads> reads,
                                     unsigned threads, TaskContext& task);
    Result<void> collectTensors();

    std::shared_ptr<CheckedReads> m_reads; ///< null where nothing is watched
    std::vector<std::shared_ptr<const OpenVersion>> m_links;
    std::vector<std::optional<std::size_t>> m_versions;
    std::vector<std::size_t> m_forms;
    std::vector<bool> m_complete;
    std::vector<const TensorInfo*> m_tensors; ///< in the indices of the links
};

/// Told about each block after each link that touches the tensor. `state` is the block behind the link.
/// Called on the thread that drives the replay, in the order of blocks within a link.
class ReplayObserver {
public:
    virtual ~ReplayObserver() = default;
    /// Before the piece of a link is applied to `state`. Not called for the first link, which makes the state.
    virtual void onPiece(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchPiece& piece);
    virtual void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) = 0;
};

} // namespace deltascope
