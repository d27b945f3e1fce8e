#pragma once

#include "deltascope/engine/backend.h"

namespace deltascope {

/// Backend::apply() of the reference: one element after the other.
PatchCounts scalarApply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) noexcept;

/// The bit of an element that alone tells -0 from +0; 0 for types with one zero.
std::uint64_t zeroSign(Dtype dtype) noexcept;

} // namespace deltascope
