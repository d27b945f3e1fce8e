#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>

namespace deltascope::xet {

/// CRC-64/NVME (reflected, polynomial 0xAD93D23594C93659, all ones before and after): what grants for xorbs demand.
std::uint64_t crc64Nvme(ByteSpan bytes) noexcept;

} // namespace deltascope::xet
