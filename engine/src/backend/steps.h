#pragma once

#include "deltascope/engine/backend.h"

namespace deltascope {

/// As Backend::countSteps().
using CountSteps = void (*)(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) noexcept;

/// The reference: one element after the other.
void scalarSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) noexcept;

/// What one of the vector targets of this build does; `target` is Highway's number for it.
CountSteps simdSteps(std::int64_t target) noexcept;

} // namespace deltascope
