#pragma once

#include <cstdint>

namespace deltascope::cuda {

/// The secret that XXH3 uses where its caller gives none, as the library has it.
void copyXxh3Secret(std::uint8_t (&secret)[192]);

} // namespace deltascope::cuda
