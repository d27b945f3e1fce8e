#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>

namespace deltascope {

/// CRC-64/NVME (polynomial ad93d23594c93659, reflected, start and final xor of all ones), as S3 keeps it of whole
/// objects and grants for xorbs demand it. Source: the NVM Express command set, 5.2.1.3.4, and the S3 API reference,
/// "Checking object integrity". `crc`: that of the bytes before; 0 for none.
std::uint64_t crc64Nvme(ByteSpan bytes, std::uint64_t crc = 0) noexcept;

/// CRC-32 as zlib and S3 have it (polynomial 04c11db7, reflected). `crc`: that of the bytes before; 0 for none.
std::uint32_t crc32Ieee(ByteSpan bytes, std::uint32_t crc = 0) noexcept;

/// The CRC-64 of two stretches in a row, from the CRC of each and the length of the second one.
std::uint64_t combineCrc64Nvme(std::uint64_t first, std::uint64_t second, std::uint64_t secondBytes) noexcept;

} // namespace deltascope
