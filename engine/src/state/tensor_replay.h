#pragma once

#include "deltascope/engine/state.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope {

class PathState;
class TensorEntry;
struct OpenVersion;

/// What a version of a path does to one tensor.
struct TensorLink {
    std::size_t link; ///< index in PathState::links()
    const OpenVersion* version;
    const TensorEntry* entry;
};

/// What a tensor is replayed from, in the order of the links. `observed`: every link counts, else those from the last
/// complete one on. The path outlives the result. Errors: BaseMismatch (the first one is not complete).
Result<std::vector<TensorLink>> linksOf(const PathState& path, const TensorInfo& tensor, bool observed);

struct ReplayOptions {
    WalkMeans means; ///< scratch is for the rare tensor with more patches than streams may be open
    ReplayObserver* observer = nullptr; ///< then every link is replayed, else only from the last full one on
    std::uint64_t begin = 0; ///< bytes of the tensor to produce, multiples of the leaf and block size, or its end
    std::uint64_t end = UINT64_MAX;
};

/// Walks one tensor block by block: base, then each patch that touches it (architecture 5). Memory: a block plus the
/// buffers of the open streams, independent of the tensor's size. One thread per object.
class TensorReplay {
public:
    /// Errors: BaseMismatch (a patch names a tensor that no state before it holds, or does not fit it), those of
    /// Layout::open. `task` outlives the replay.
    static Result<TensorReplay> open(const PathState& path, const TensorInfo& tensor, ReplayOptions options,
                                     TaskContext& task);
    TensorReplay(TensorReplay&&) noexcept;
    TensorReplay& operator=(TensorReplay&&) noexcept;
    ~TensorReplay();

    /// The next block of the final state; empty behind the last one. Valid until the next call. Errors carry the step.
    Result<ByteSpan> next(TaskContext& task);

private:
    struct State;
    explicit TensorReplay(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace deltascope
