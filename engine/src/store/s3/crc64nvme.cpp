#include "crc64nvme.h"

#include <array>

namespace deltascope::s3 {

namespace {

constexpr std::uint64_t ReflectedPolynomial = 0x9a6c9329ac4bc9b5;
constexpr std::size_t Slices = 8;
using CrcTable = std::array<std::uint64_t, 256>;

/// Table k advances a byte over k more bytes of zero.
constexpr std::array<CrcTable, Slices> makeCrcTables()
{
    std::array<CrcTable, Slices> tables {};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? ReflectedPolynomial : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < Slices; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint64_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

constexpr std::array<CrcTable, Slices> CrcTables = makeCrcTables();

/// The product of two polynomials modulo that of the CRC; bit 63 is x^0.
std::uint64_t multiplyModulo(std::uint64_t a, std::uint64_t b) noexcept
{
    std::uint64_t product = 0;
    for (std::uint64_t bit = std::uint64_t { 1 } << 63; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            product ^= b;
        b = (b >> 1) ^ ((b & 1) != 0 ? ReflectedPolynomial : 0);
    }
    return product;
}

/// x^(8 * bytes) modulo the polynomial.
std::uint64_t zerosOperator(std::uint64_t bytes) noexcept
{
    std::uint64_t result = std::uint64_t { 1 } << 63;
    std::uint64_t power = std::uint64_t { 1 } << (63 - 8); // x^8
    for (; bytes != 0; bytes >>= 1) {
        if ((bytes & 1) != 0)
            result = multiplyModulo(result, power);
        power = multiplyModulo(power, power);
    }
    return result;
}

} // namespace

std::uint64_t crc64Nvme(ByteSpan bytes, std::uint64_t crc) noexcept
{
    crc = ~crc;
    for (; bytes.size() >= Slices; bytes = bytes.subspan(Slices)) {
        crc ^= loadLe<std::uint64_t>(bytes);
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < Slices; ++i)
            next ^= CrcTables[Slices - 1 - i][(crc >> (8 * i)) & 0xff];
        crc = next;
    }
    for (const std::byte byte : bytes)
        crc = (crc >> 8) ^ CrcTables[0][(crc ^ static_cast<std::uint64_t>(byte)) & 0xff];
    return ~crc;
}

std::uint64_t combineCrc64Nvme(std::uint64_t first, std::uint64_t second, std::uint64_t secondBytes) noexcept
{
    return multiplyModulo(zerosOperator(secondBytes), first) ^ second;
}

} // namespace deltascope::s3
