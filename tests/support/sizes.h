#pragma once

#include <cstdint>

namespace deltascope::test {

inline constexpr std::uint64_t MiB = std::uint64_t { 1 } << 20; ///< bytes

} // namespace deltascope::test
