#include "crc.h"

#include <array>
#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace deltascope {

namespace {

constexpr std::uint64_t ReflectedPolynomial = 0x9a6c9329ac4bc9b5;
/// That of CRC-32, times x^32: what is right modulo the one is right modulo the other.
constexpr std::uint64_t ReflectedPolynomial32 = 0xedb88320;
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

#if defined(__x86_64__)

/// x^n modulo a polynomial.
constexpr std::uint64_t powerOfX(std::uint64_t polynomial, unsigned n) noexcept
{
    std::uint64_t power = std::uint64_t { 1 } << 63;
    for (; n > 0; --n)
        power = (power >> 1) ^ ((power & 1) != 0 ? polynomial : 0);
    return power;
}

constexpr std::size_t LaneBytes = 16;
constexpr std::size_t Lanes = 4;
constexpr std::size_t FoldBytes = Lanes * LaneBytes;

bool hasCarrylessProduct() noexcept
{
    static const bool has = __builtin_cpu_supports("pclmul") != 0;
    return has;
}

__attribute__((target("pclmul"))) __m128i loadLane(ByteSpan bytes, std::size_t lane) noexcept
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + lane * LaneBytes));
}

/// A lane that stands Bits / 8 bytes further on and leaves the same remainder. The product of two reflected numbers is
/// short of one power of x, which the constants make good.
template <std::uint64_t Polynomial, unsigned Bits>
__attribute__((target("pclmul"))) __m128i moveLane(__m128i lane) noexcept
{
    constexpr std::uint64_t Front = powerOfX(Polynomial, Bits + 63);
    constexpr std::uint64_t Back = powerOfX(Polynomial, Bits - 1);
    const __m128i powers = _mm_set_epi64x(static_cast<long long>(Back), static_cast<long long>(Front));
    return _mm_xor_si128(_mm_clmulepi64_si128(lane, powers, 0x00), _mm_clmulepi64_si128(lane, powers, 0x11));
}

/// Replaces all bytes but the last LaneBytes and less by 16 bytes that leave the same remainder. Method: Gopal et al.,
/// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009. At least FoldBytes.
template <std::uint64_t Polynomial>
__attribute__((target("pclmul"))) std::array<std::byte, LaneBytes> foldBytes(ByteSpan& bytes,
                                                                             std::uint64_t crc) noexcept
{
    __m128i lanes[Lanes];
    for (std::size_t i = 0; i < Lanes; ++i)
        lanes[i] = loadLane(bytes, i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi64_si128(static_cast<long long>(crc)));
    for (bytes = bytes.subspan(FoldBytes); bytes.size() >= FoldBytes; bytes = bytes.subspan(FoldBytes)) {
        for (std::size_t i = 0; i < Lanes; ++i)
            lanes[i] = _mm_xor_si128(moveLane<Polynomial, FoldBytes * 8>(lanes[i]), loadLane(bytes, i));
    }
    __m128i last = lanes[0];
    for (std::size_t i = 1; i < Lanes; ++i)
        last = _mm_xor_si128(moveLane<Polynomial, LaneBytes * 8>(last), lanes[i]);
    for (; bytes.size() >= LaneBytes; bytes = bytes.subspan(LaneBytes))
        last = _mm_xor_si128(moveLane<Polynomial, LaneBytes * 8>(last), loadLane(bytes, 0));
    std::array<std::byte, LaneBytes> left;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(left.data()), last);
    return left;
}

#endif

/// Without the xor at both ends.
std::uint64_t crcByTables(ByteSpan bytes, std::uint64_t crc) noexcept
{
    for (; bytes.size() >= Slices; bytes = bytes.subspan(Slices)) {
        crc ^= loadLe<std::uint64_t>(bytes);
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < Slices; ++i)
            next ^= CrcTables[Slices - 1 - i][(crc >> (8 * i)) & 0xff];
        crc = next;
    }
    for (const std::byte byte : bytes)
        crc = (crc >> 8) ^ CrcTables[0][(crc ^ static_cast<std::uint64_t>(byte)) & 0xff];
    return crc;
}

} // namespace

std::uint64_t crc64Nvme(ByteSpan bytes, std::uint64_t crc) noexcept
{
    crc = ~crc;
#if defined(__x86_64__)
    if (bytes.size() >= FoldBytes && hasCarrylessProduct()) {
        const std::array<std::byte, LaneBytes> left = foldBytes<ReflectedPolynomial>(bytes, crc);
        crc = crcByTables(left, 0);
    }
#endif
    return ~crcByTables(bytes, crc);
}

std::uint32_t crc32Ieee(ByteSpan bytes, std::uint32_t crc) noexcept
{
    const auto byZlib = [](ByteSpan part, std::uint32_t before) {
        const auto* const data = reinterpret_cast<const unsigned char*>(part.data());
        return part.empty() ? before : static_cast<std::uint32_t>(::crc32_z(before, data, part.size()));
    };
#if defined(__x86_64__)
    if (bytes.size() >= FoldBytes && hasCarrylessProduct()) {
        const std::array<std::byte, LaneBytes> left = foldBytes<ReflectedPolynomial32>(bytes, ~crc);
        crc = byZlib(left, ~std::uint32_t { 0 }); // zlib's own xor at both ends: this begins at zero
    }
#endif
    return byZlib(bytes, crc);
}

std::uint64_t combineCrc64Nvme(std::uint64_t first, std::uint64_t second, std::uint64_t secondBytes) noexcept
{
    return multiplyModulo(zerosOperator(secondBytes), first) ^ second;
}

} // namespace deltascope
