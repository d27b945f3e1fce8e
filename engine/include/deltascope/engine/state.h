#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/evidence.h"
#include "deltascope/engine/read_ahead.h"
#include "deltascope/engine/tensor_range.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope {

class Backend;
class ReplayObserver;

/// Elements [begin, end) of one tensor of a state.
struct TensorSlice {
    std::size_t tensor = 0; ///< index in State::tensors()
    std::uint64_t begin = 0; ///< the first element of a block (blockBytesOf())
    std::uint64_t end = UINT64_MAX; ///< at most the elements of the tensor count
};

/// Where the bytes of a slice lie in its tensor.
struct SliceBytes {
    std::uint64_t begin = 0, end = 0;
    bool isWhole = false; ///< it is all of the tensor
};
SliceBytes bytesOf(const TensorSlice& slice, const TensorInfo& tensor) noexcept;

/// What reading a slice shows beside its bytes.
struct SliceEvidence {
    bool noopsSeen = false; ///< a delta on the way assigned bits that were there already
    std::uint32_t digestsChecked = 0; ///< of the publisher, on the way; only whole tensors have one
    bool digestsMatch = true;
    Compared compared =
        Compared::Start; ///< what its bytes were compared with; a root of the state counts as if it fits
};

/// The bytes of one slice, block by block from front to back. One thread at a time.
class SliceReader {
public:
    virtual ~SliceReader() = default;
    /// The next block; empty behind the last one. Valid until the next call.
    virtual Result<ByteSpan> next(TaskContext& task) = 0;
    /// Complete once next() returned an empty block.
    virtual SliceEvidence evidence() const noexcept { return {}; }
};

/// What a pass over slices shows.
struct WalkEvidence {
    bool noopsSeen = false; ///< as in SliceEvidence, by a delta whose tensors no digest vouches for
};

/// One pass over slices of a state, which are named beforehand. The state outlives it.
class StateWalk {
public:
    explicit StateWalk(std::vector<TensorSlice> slices)
        : m_slices(std::move(slices))
    {
    }
    virtual ~StateWalk() = default;
    std::size_t size() const noexcept { return m_slices.size(); } ///< slices
    const TensorSlice& slice(std::size_t at) const noexcept { return m_slices[at]; }
    virtual const TensorInfo& tensor(std::size_t slice) const noexcept = 0; ///< that the slice is of
    /// How many slices to read at once where `threads` processors may be used; more where reading waits.
    virtual unsigned readersAtOnce(unsigned threads) const noexcept { return threads; }
    /// Begins to fetch what the slices are read from, in their order, where that takes time (ObjectStore::readAhead).
    /// The walk and `task` outlive the result.
    virtual ReadsAhead readAhead(TaskContext&) const { return {}; }
    /// Any thread; each slice once. Errors: those of the state's storage and formats.
    virtual Result<std::unique_ptr<SliceReader>> open(std::size_t slice, TaskContext& task) = 0;
    /// Behind the end of every reader. Errors: Digest (a tensor on the way is not what its publisher recorded).
    virtual Result<WalkEvidence> finish() { return WalkEvidence {}; }

private:
    std::vector<TensorSlice> m_slices;
};

/// What passes over states may use; Workbench::means() decides it. It has no default: none is fit for a product.
struct WalkMeans {
    WalkMeans(unsigned threads, std::string scratchFolder, std::shared_ptr<const Backend> backend)
        : threads(threads)
        , scratchFolder(std::move(scratchFolder))
        , backend(std::move(backend))
    {
    }

    unsigned threads;
    std::string scratchFolder; ///< for what does not fit in memory; empty: the system's own
    std::shared_ptr<const Backend> backend; ///< applies deltas; never null
};

struct WalkOptions {
    WalkMeans means;
    /// Of a state that is made by applying deltas: what sees each block behind each of them. Called once for each
    /// slice, when it is opened; what it returns lives until the reader of the slice has returned the empty block.
    /// Null, also as an answer: nothing.
    std::function<ReplayObserver*(std::size_t slice)> observer = nullptr;
};

/// Where a state comes from, for messages.
struct StatePlace {
    std::string where; ///< address of the source
    std::optional<std::int64_t> step; ///< nothing: the source has no steps
    bool isCheckpoint = false; ///< it is one complete checkpoint and builds on nothing else
    bool isAdapter = false; ///< the checkpoint that it begins with holds adapters, not models
};

/// What the tensors of an adapter mean.
struct AdapterConfig {
    std::string where; ///< key of the object
    std::string text; ///< JSON, as PEFT writes it
};

/// The tensors of a model at one moment. Immutable; any thread. Bytes are read by walkTensors() and walkPairs()
/// (walk.h) alone.
class State {
public:
    virtual ~State() = default;
    State() = default;
    State(const State&) = default;
    State& operator=(const State&) = default;
    State(State&&) = default;
    State& operator=(State&&) = default;

    /// Name, dtype and shape of every tensor, by name. Valid as long as the state.
    virtual TensorRange tensors() const noexcept = 0;
    virtual StatePlace place() const = 0;
    /// Name, without its folder, of the file that holds a tensor in the checkpoint that the state begins with.
    /// `tensor`: index in tensors(). Nothing where no file there holds it, or none is known. Valid as long as the
    /// state.
    virtual std::optional<std::string_view> fileOf(std::size_t tensor) const;
    std::optional<std::size_t> indexOf(std::string_view name) const noexcept; ///< in tensors()
    const TensorInfo* find(std::string_view name) const noexcept; ///< null: it has none of this name
    std::uint64_t stateBytes() const noexcept; ///< of all tensors
    std::vector<TensorInfo> copyOfTensors() const; ///< outlives the state

    /// A pass over slices, in about this order. A tensor that its publisher recorded a digest of is compared with it,
    /// if the slice is all of it. Errors: those of the storage.
    virtual Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const = 0;
    /// Whether publishers recorded digests of tensors, so that slices of all of a tensor prove more than parts of it.
    virtual bool hasDigests() const noexcept { return false; }
    /// For those that use all of the state: compares what opening it left out. Errors: those of Layout::checkPayload.
    virtual Result<void> checkWhole(TaskContext& task) const;
    /// Nothing: the state is no adapter, or has no config. Errors: those of the storage.
    virtual Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const;
    /// Compares the state with the root or digest that its publisher recorded. `root`: its fast DSM1 root, hex. Errors:
    /// Digest.
    virtual Result<void> expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const;
    /// Behind the last read of an operation. Errors: Digest (the storage is damaged), Rewritten (an object is not the
    /// one on record, or changed while it was read), those of the stores.
    virtual Result<void> expectSoundReads(TaskContext& task) const;
    /// As expectSoundReads(), and also where there is no record: what was read is still there. Errors: Rewritten,
    /// Digest.
    virtual Result<void> expectUnchanged(TaskContext& task) const;
    /// Objects that were rewritten since they were first seen and are read all the same (ReadRules): keys, and
    /// addresses of those outside of the source. Complete behind expectSoundReads().
    virtual std::vector<std::string> rewritten() const { return {}; }
    /// Objects that could not be compared with what is on record of them, and why.
    virtual std::vector<Error> readNotices() const { return {}; }
    /// An error of an operation on this state, or the cause behind it: bytes that differ from the record.
    virtual Error reasonOf(Error error, TaskContext& task) const;
};

/// What came of reading states (null: none), if the bytes that were read are those on record. Errors: Digest,
/// Rewritten, also as the reason of another error; those of `outcome`.
template <class T> Result<T> ifSound(Result<T> outcome, std::initializer_list<const State*> states, TaskContext& task)
{
    for (const State* state : states) {
        if (!state)
            continue;
        if (outcome)
            DS_CHECK(state->expectSoundReads(task));
        else
            outcome = fail(state->reasonOf(std::move(outcome.error()), task));
    }
    return outcome;
}

/// All tensors whole, in the order of State::tensors().
std::vector<TensorSlice> allTensors(const State& state);
/// The same, the largest first, so that threads end together.
std::vector<TensorSlice> largestFirst(const State& state);

} // namespace deltascope
