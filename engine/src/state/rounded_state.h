#pragma once

#include "deltascope/engine/state.h"

#include <map>

namespace deltascope {

/// A state with the values of some tensors rounded to a narrower dtype, as frameworks cast. `state` outlives it.
/// `dtypes`: by index in State::tensors(); narrower ones (commonDtype()).
std::unique_ptr<State> rounded(const State& state, const std::map<std::size_t, Dtype>& dtypes);

} // namespace deltascope
