#pragma once

#include "deltascope/engine/patch.h"

namespace deltascope {

/// Adds to some elements of a block of BF16, F16 or F32: in float, rounded to the element type.
PatchCounts addElements(const AddElements& piece, MutableByteSpan block, Dtype dtype) noexcept;

} // namespace deltascope
