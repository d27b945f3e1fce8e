#pragma once

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/state.h"

#include <atomic>
#include <vector>

namespace deltascope {

/// A state in memory of which a device has hashed every tensor: expectRecorded() compares it with what the device
/// found.
class ProvenState final : public State {
public:
    /// `nodes`: fast ones, of each tensor. `state` outlives it.
    ProvenState(const State& state, std::vector<TensorNode> nodes)
        : m_state(state)
        , m_nodes(std::move(nodes))
    {
    }

    TensorRange tensors() const noexcept override { return m_state.tensors(); }
    StatePlace place() const override { return m_state.place(); }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override
    {
        return m_state.walk(std::move(slices), std::move(options));
    }
    Result<void> expectUnchanged(TaskContext& task) const override { return m_state.expectUnchanged(task); }
    /// Errors: Digest, with the first tensor that differs.
    Result<void> expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const override;
    bool isProven() const noexcept { return m_isProven; } ///< expectRecorded() found the same

private:
    const State& m_state;
    std::vector<TensorNode> m_nodes;
    mutable std::atomic<bool> m_isProven = false;
};

} // namespace deltascope
