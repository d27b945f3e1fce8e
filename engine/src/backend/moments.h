#pragma once

#include "deltascope/engine/backend.h"

namespace deltascope {

/// As Backend::moments().
using MeasureMoments = DiffMoments (*)(ByteSpan before, ByteSpan after, Dtype dtype) noexcept;

DiffMoments scalarMoments(ByteSpan before, ByteSpan after, Dtype dtype) noexcept;

/// What one of the vector targets of this build does; `target` is Highway's number for it.
MeasureMoments simdMoments(std::int64_t target) noexcept;

} // namespace deltascope
