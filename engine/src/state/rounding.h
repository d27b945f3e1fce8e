#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <optional>

namespace deltascope {

/// The dtype in which values of two dtypes are compared: the narrower one, if it is a rounded form of the other (BF16
/// or F16 of F32, F32 of F64) or both are the same. Nothing: there is none.
std::optional<Dtype> commonDtype(Dtype a, Dtype b) noexcept;

/// Rounds elements to the nearest value, ties to even, as frameworks cast. A NaN becomes the quiet NaN of the sign that
/// torch writes. `from` and `to`: different, and commonDtype() of both is `to`. `out`: as many elements as `wide`
/// holds.
void roundElements(ByteSpan wide, Dtype from, Dtype to, MutableByteSpan out) noexcept;

} // namespace deltascope
