#pragma once

#include "deltascope/engine/operations.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// A state with the rows of projections below each other that it stores apart.
struct FusedState {
    std::unique_ptr<State> state;
    std::map<std::string, std::vector<std::string>> parts; ///< names of what is stored, by that of what it is fused to
    std::vector<FormDifference> forms; ///< A is the state as it is stored, B the other one; ofTensors is 0
};

/// `apart`, which outlives the result, with the projections fused that `other` stores fused. Nothing: there are none.
/// `prefixes`: as in correspond().
std::optional<FusedState> fusedLike(const State& apart, const State& other, const std::optional<PrefixMap>& prefixes);

/// Two states, with the projections that one of them stores apart and the other fused in one tensor fused in both:
/// q_proj, k_proj and v_proj as qkv_proj, gate_proj and up_proj as gate_up_proj. The order of the rows is that of Phi-3
/// in transformers and of vLLM without tensor parallelism (packed_modules_mapping).
class FusedSides {
public:
    /// The states outlive it. Without `acrossForms` they stay as they are; `prefixes`: as in correspond().
    FusedSides(const State& a, const State& b, bool acrossForms, const std::optional<PrefixMap>& prefixes);

    const State& a() const noexcept { return m_fusedA ? *m_fusedA->state : m_a; }
    const State& b() const noexcept { return m_fusedB ? *m_fusedB->state : m_b; }
    bool areFused() const noexcept { return m_fusedA || m_fusedB; }
    /// Names of the tensors that a tensor of a() or b() is fused of, on whichever side. Null: it is stored.
    const std::vector<std::string>* partsOf(const TensorInfo& tensor) const;
    std::vector<FormDifference> forms() const; ///< ofTensors is 0
    /// Whether it is such a form that a tensor of a() or b() is fused by. `form`: of forms().
    bool areFusedBy(const FormDifference& form, const TensorInfo& tensor) const;

private:
    const State& m_a;
    const State& m_b;
    std::optional<FusedState> m_fusedA, m_fusedB;
};

} // namespace deltascope
