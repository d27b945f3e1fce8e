#pragma once

#include "deltascope/engine/state.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// A tensor in memory that somebody else owns.
struct BorrowedTensor {
    TensorInfo info;
    ByteSpan bytes; ///< as many as the tensor has, without padding; outlives the state and does not change meanwhile
};

/// Tensors in memory as a state. `where`: what messages call it. Names are unique. Errors: Usage (a name occurs twice,
/// or a tensor has another number of bytes than its dtype and shape say).
Result<std::unique_ptr<State>> stateOfMemory(std::string where, std::vector<BorrowedTensor> tensors);

} // namespace deltascope
