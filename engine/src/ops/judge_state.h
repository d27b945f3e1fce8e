#pragma once

#include "audit/first_state.h"
#include "audit/tensor_moves.h"
#include "deltascope/engine/health.h"
#include "deltascope/engine/version_writer.h"
#include "deltascope/engine/walk.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope {

/// A complete state that another one is judged by.
struct StateBefore {
    const State& state;
    bool isJudged = true; ///< false: what its tensors hold may be wrong already, so equal bits excuse nothing
    std::vector<SuspectTensor> held; ///< what was found in it
};

struct JudgedState {
    std::vector<SuspectTensor> suspects; ///< the worst kind first, then by name
    /// Tensors that nothing is compared with and that hold infinities as masks do, which is no alarm; by name.
    std::vector<std::string> masks;
};

/// Finds what speaks against the values of a complete state while somebody reads it: floating types alone. Any thread;
/// a tensor belongs to one.
class StateJudge {
public:
    /// `before`: the state of the step before; outlives it; null: there is none.
    StateJudge(const StateBefore* before, std::shared_ptr<const Backend> backend)
        : m_before(before)
        , m_backend(std::move(backend))
    {
    }

    /// Measures one tensor, from front to back.
    class Tensor {
    public:
        /// The next block, of as many bytes in both states. `before`: empty where the state before lacks the tensor.
        void add(ByteSpan before, ByteSpan now);
        /// The next block of a tensor that the state before has too, where the caller knows which elements changed.
        void add(ByteSpan before, ByteSpan now, const ElementChanges& changes);
        void finish(); ///< behind the last block

    private:
        friend class StateJudge;
        Tensor(StateJudge& judge, const TensorInfo& tensor, bool hasBefore);

        StateJudge& m_judge;
        const TensorInfo& m_tensor;
        bool m_hasBefore;
        std::unique_ptr<MoveMeter> m_meter; ///< null: the type is not judged
    };
    /// `tensor`: outlives what it returns. `hasBefore`: the state before has it in this type and shape.
    Tensor begin(const TensorInfo& tensor, bool hasBefore) { return Tensor(*this, tensor, hasBefore); }

    bool isSuspect(); ///< of what was judged so far
    /// Behind the last tensor.
    JudgedState take();

private:
    void addNew(const TensorInfo& tensor, MoveMeter& meter);
    void addPair(const TensorInfo& tensor, MoveMeter& meter);
    void addFirst(const TensorInfo& tensor, const MoveMeter& meter);
    void add(const TensorInfo& tensor, SuspectTensor suspect);

    const StateBefore* m_before;
    std::shared_ptr<const Backend> m_backend;
    std::mutex m_mutex; ///< guards what follows
    JudgedState m_found;
    ZeroLayers m_zeroLayers;
};

/// What speaks against the values of a complete state: floating types alone. `before`: the state of the step before;
/// null: there is none. Reads both. Errors: those of the walks.
Result<JudgedState> judgeState(const State& state, const StateBefore* before, const WalkMeans& means,
                               TaskContext& task);

} // namespace deltascope
