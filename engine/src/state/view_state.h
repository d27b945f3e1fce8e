#pragma once

#include "deltascope/engine/state.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// A stretch of one tensor of another state, or zeros.
struct ViewPart {
    std::optional<std::size_t> tensor; ///< index in State::tensors() of the other state; nothing: zeros
    std::uint64_t begin = 0; ///< the first element
    std::uint64_t elements = 0;
};

/// A tensor that is put together from parts, one behind the other: since tensors are stored row by row, parts of whole
/// rows lie below each other.
struct TensorRecipe {
    TensorInfo info;
    std::vector<ViewPart> parts; ///< of the same dtype
};

/// A tensor of `state` as it is.
TensorRecipe wholeTensor(const State& state, std::size_t tensor);

/// A state whose tensors are put together from those of `state`, which outlives it. A part that is all of its tensor is
/// compared with what the publisher recorded of it, as a slice is; a stretch is not. WalkOptions::observer sees
/// nothing. Errors: Usage (a name occurs twice; a part reaches beyond its tensor, has another dtype, or begins or ends
/// within a byte; the parts have other elements than the shape says).
Result<std::unique_ptr<State>> viewOf(const State& state, std::vector<TensorRecipe> tensors);

/// `state`, which outlives it, with other names for some tensors. `names`: by index in State::tensors(). Errors: Usage
/// (two tensors would have one name).
Result<std::unique_ptr<State>> renamed(const State& state, const std::map<std::size_t, std::string>& names);

} // namespace deltascope
