#pragma once

#include <cstdint>

namespace deltascope {

/// Whether two checkpoints are of one run.
enum class Kinship : std::uint8_t { Unknown, OneRun, TwoRuns };

} // namespace deltascope
