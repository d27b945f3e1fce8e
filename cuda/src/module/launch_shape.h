#pragma once

#include "kernels/execution.h"

#include <cstdint>
#include <string>

namespace deltascope::cuda {

constexpr unsigned TileThreads = 256;
constexpr unsigned TilesPerBlock = TileThreads / Lanes;

/// The kernel for elements of a width (kernels/list.h).
inline std::string widthName(const char* kernel, std::uint32_t elementBytes)
{
    return std::string(kernel) + '_' + std::to_string(elementBytes);
}

} // namespace deltascope::cuda
