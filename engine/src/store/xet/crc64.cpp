#include "store/xet/crc64.h"

#include <array>

namespace deltascope::xet {

namespace {

constexpr std::size_t CrcStride = 16; ///< bytes that are looked up at once
using CrcTables = std::array<std::array<std::uint64_t, 256>, CrcStride>;

/// Table k: what a byte contributes that k bytes follow.
constexpr CrcTables makeCrcTables()
{
    constexpr std::uint64_t Reflected = 0x9A6C'9329'AC4B'C9B5;
    CrcTables tables {};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? crc >> 1 ^ Reflected : crc >> 1;
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < CrcStride; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
    }
    return tables;
}

constexpr CrcTables CrcOf = makeCrcTables();

}

std::uint64_t crc64Nvme(ByteSpan bytes) noexcept
{
    std::uint64_t crc = ~std::uint64_t { 0 };
    std::size_t at = 0;
    for (; bytes.size() - at >= CrcStride; at += CrcStride) {
        const std::uint64_t low = crc ^ loadLe<std::uint64_t>(bytes, at);
        const std::uint64_t high = loadLe<std::uint64_t>(bytes, at + 8);
        crc = 0;
        for (unsigned i = 0; i < 8; ++i)
            crc ^= CrcOf[15 - i][low >> (8 * i) & 0xFF] ^ CrcOf[7 - i][high >> (8 * i) & 0xFF];
    }
    for (; at < bytes.size(); ++at)
        crc = crc >> 8 ^ CrcOf[0][(crc ^ std::to_integer<std::uint64_t>(bytes[at])) & 0xFF];
    return ~crc;
}

} // namespace deltascope::xet
