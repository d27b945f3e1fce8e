#pragma once

#include "deltascope/engine/state.h"

#include <string>

namespace deltascope {

/// That there is something to publish: a tensor with an element. `origin`: what the state is called; may be empty.
/// Errors: Malformed.
Result<void> expectElements(const State& state, const std::string& origin);

/// That adapters do the same but for their tensors: no layout carries their settings. `origin`: of `to`. Errors:
/// Unsupported (it names the settings that differ), those of reading them.
Result<void> expectSameSettings(const State& from, const State& to, const std::string& origin, TaskContext& task);

} // namespace deltascope
