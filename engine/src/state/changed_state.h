#pragma once

#include "deltascope/engine/state.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope {

/// New bits for some elements of a stretch of a tensor. For types below a byte (F4, F6) the elements are the bytes.
struct StretchChanges {
    std::uint64_t firstElement = 0; ///< of the stretch
    std::vector<std::uint32_t> positions; ///< relative to firstElement, strictly ascending
    std::vector<std::byte> values; ///< one after another
};

/// Of one tensor, ascending and apart from each other.
using TensorChanges = std::vector<StretchChanges>;

/// How wide the elements of StretchChanges are, in bytes.
unsigned changedElementBytes(Dtype dtype) noexcept;

/// Writes the changes of a tensor into the stretch of it that begins at byte `begin`.
void applyChanges(const TensorChanges& changes, Dtype dtype, std::uint64_t begin, MutableByteSpan stretch);

/// A state in which some elements have other bits. `state` and `changes`, by index in State::tensors(), outlive it.
std::unique_ptr<State> changedState(const State& state, const std::vector<TensorChanges>& changes);

} // namespace deltascope
