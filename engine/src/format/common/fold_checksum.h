#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>

namespace deltascope {

/// torch.hash_tensor: the exclusive or of all elements as 64-bit patterns, integers extended with their sign, floats
/// widened to double. Order and pairs of equal elements do not show: a weak check. Pieces may be folded one after
/// another. `bytes`: whole elements of BF16, F16, F32, F64 or an integer type of at least 8 bits.
/// (aten/src/ATen/native/cpu/ReduceOpsKernel.cpp)
std::uint64_t foldTensor(Dtype dtype, ByteSpan bytes) noexcept;

} // namespace deltascope
