#pragma once

#include "deltascope/engine/state.h"

#include <optional>
#include <string>

namespace deltascope {

/// How the tensors of two states differ: in every way that holds.
struct TensorDifference {
    std::string reason; ///< calls the states A and B
    std::string remedy;
};
/// Nothing: the names, dtypes and shapes of both are the same.
std::optional<TensorDifference> differenceOfTensors(const State& a, const State& b);

/// A delta can neither add nor drop nor reshape a tensor. Errors: BaseMismatch.
Result<void> expectSameTensors(const State& from, const State& to);

} // namespace deltascope
