#include "store/xet/crc64.h"

#include <array>
#ifdef __x86_64__
#include <wmmintrin.h>
#endif

namespace deltascope::xet {

namespace {

constexpr std::uint64_t CrcReflected = 0x9A6C'9329'AC4B'C9B5; ///< the polynomial; the lowest bit is the highest power
constexpr std::size_t CrcStride = 16; ///< bytes that are looked up at once
using CrcTables = std::array<std::array<std::uint64_t, 256>, CrcStride>;

/// Table k: what a byte contributes that k bytes follow.
constexpr CrcTables makeCrcTables()
{
    CrcTables tables {};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? crc >> 1 ^ CrcReflected : crc >> 1;
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < CrcStride; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xFF];
    }
    return tables;
}

constexpr CrcTables CrcOf = makeCrcTables();

std::uint64_t crcByTables(std::uint64_t crc, ByteSpan bytes) noexcept
{
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
    return crc;
}

#ifdef __x86_64__

// Four times 16 bytes are folded onto the next 64 at once: what lies d bits ahead is multiplied by x^d modulo the
// polynomial. A product of two reflected words is reflected too, but one bit off, hence the exponents less one.

constexpr std::size_t CrcLanes = 4;
constexpr std::size_t CrcBlock = CrcLanes * sizeof(__m128i);

/// x^power modulo the polynomial, reflected.
constexpr std::uint64_t crcPower(unsigned power)
{
    std::uint64_t value = std::uint64_t { 1 } << 63;
    while (power-- > 0)
        value = (value & 1) != 0 ? value >> 1 ^ CrcReflected : value >> 1;
    return value;
}

constexpr std::uint64_t CrcBlockLow = crcPower(CrcBlock * 8 + 63);
constexpr std::uint64_t CrcBlockHigh = crcPower(CrcBlock * 8 - 1);
constexpr std::uint64_t CrcLaneLow = crcPower(128 + 63);
constexpr std::uint64_t CrcLaneHigh = crcPower(128 - 1);

__attribute__((target("pclmul"))) __m128i foldCrc(__m128i value, __m128i factors, __m128i next) noexcept
{
    const __m128i low = _mm_clmulepi64_si128(value, factors, 0x00);
    const __m128i high = _mm_clmulepi64_si128(value, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("pclmul"))) std::uint64_t crcByProducts(std::uint64_t crc, ByteSpan bytes) noexcept
{
    const auto load = [&bytes](std::size_t at) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at));
    };
    const auto factors = [](std::uint64_t low, std::uint64_t high) {
        return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
    };
    const __m128i forBlock = factors(CrcBlockLow, CrcBlockHigh);
    const __m128i forLane = factors(CrcLaneLow, CrcLaneHigh);
    __m128i lanes[CrcLanes] = { _mm_xor_si128(load(0), factors(crc, 0)), load(16), load(32), load(48) };
    std::size_t at = CrcBlock;
    for (; bytes.size() - at >= CrcBlock; at += CrcBlock) {
        for (std::size_t lane = 0; lane < CrcLanes; ++lane)
            lanes[lane] = foldCrc(lanes[lane], forBlock, load(at + lane * sizeof(__m128i)));
    }
    __m128i all = lanes[0];
    for (std::size_t lane = 1; lane < CrcLanes; ++lane)
        all = foldCrc(all, forLane, lanes[lane]);
    std::array<std::byte, sizeof all> rest {};
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), all);
    return crcByTables(crcByTables(0, rest), bytes.subspan(at));
}

std::uint64_t crcOfBytes(std::uint64_t crc, ByteSpan bytes) noexcept
{
    const bool canMultiply = bytes.size() >= CrcBlock && __builtin_cpu_supports("pclmul");
    return canMultiply ? crcByProducts(crc, bytes) : crcByTables(crc, bytes);
}

#else

std::uint64_t crcOfBytes(std::uint64_t crc, ByteSpan bytes) noexcept { return crcByTables(crc, bytes); }

#endif

}

std::uint64_t crc64Nvme(ByteSpan bytes) noexcept { return ~crcOfBytes(~std::uint64_t { 0 }, bytes); }

} // namespace deltascope::xet
