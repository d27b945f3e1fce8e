#pragma once

#include "deltascope/engine/backend.h"

#include <memory>
#include <vector>

namespace deltascope {

/// The reference: one element after the other, in plain C++.
std::shared_ptr<const Backend> makeScalarDiff();

/// One backend per vector target that this build holds, from narrow to wide; none of them needs to be supported here.
std::vector<std::shared_ptr<const Backend>> makeSimdDiffs();

} // namespace deltascope
