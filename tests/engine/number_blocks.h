#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <vector>

// Blocks of every type of numbers, and what their bit patterns mean, written without the engine's number formats.

namespace deltascope::test {

/// A floating type as its fields; every pattern with an exponent of ones is special in an IEEE one.
struct Fields {
    int exponentBits;
    int fractionBits;
    int bias;
    enum { Ieee, AllOnes, NegativeZero } nan = Ieee;
};

inline std::optional<Fields> fieldsOf(Dtype dtype)
{
    switch (dtype) {
    case Dtype::BF16:
        return Fields { 8, 7, 127 };
    case Dtype::F16:
        return Fields { 5, 10, 15 };
    case Dtype::F32:
        return Fields { 8, 23, 127 };
    case Dtype::F64:
        return Fields { 11, 52, 1023 };
    case Dtype::F8E5M2:
        return Fields { 5, 2, 15 };
    case Dtype::F8E4M3:
        return Fields { 4, 3, 7, Fields::AllOnes };
    case Dtype::F8E4M3Fnuz:
        return Fields { 4, 3, 8, Fields::NegativeZero };
    case Dtype::F8E5M2Fnuz:
        return Fields { 5, 2, 16, Fields::NegativeZero };
    default:
        return std::nullopt;
    }
}

inline bool isSigned(Dtype dtype)
{
    return dtype == Dtype::I8 || dtype == Dtype::I16 || dtype == Dtype::I32 || dtype == Dtype::I64;
}

inline constexpr Dtype Numbers[] = { Dtype::BF16,   Dtype::F16,        Dtype::F32,        Dtype::F64, Dtype::F8E5M2,
                                     Dtype::F8E4M3, Dtype::F8E4M3Fnuz, Dtype::F8E5M2Fnuz, Dtype::I8,  Dtype::I16,
                                     Dtype::I32,    Dtype::I64,        Dtype::Bool,       Dtype::U8,  Dtype::U16,
                                     Dtype::U32,    Dtype::U64 };

inline std::uint64_t bitsAt(ByteSpan bytes, std::size_t element, std::size_t width)
{
    std::uint64_t bits = 0;
    for (std::size_t i = width; i-- > 0;)
        bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[element * width + i]);
    return bits;
}

inline void storeAt(MutableByteSpan bytes, std::size_t element, std::size_t width, std::uint64_t bits)
{
    for (std::size_t i = 0; i < width; ++i, bits >>= 8)
        bytes[element * width + i] = static_cast<std::byte>(bits);
}

/// One element, as a value and as sign and magnitude of its pattern.
struct Element {
    double value; ///< NaN for NaN
    bool negative;
    std::uint64_t magnitude;
};

inline Element floatOf(const Fields& fields, std::uint64_t bits)
{
    const int width = 1 + fields.exponentBits + fields.fractionBits;
    const std::uint64_t fraction = bits & ((std::uint64_t { 1 } << fields.fractionBits) - 1);
    const int most = (1 << fields.exponentBits) - 1;
    const int exponent = static_cast<int>(bits >> fields.fractionBits) & most;
    Element out { 0, (bits >> (width - 1)) != 0, bits & ((std::uint64_t { 1 } << (width - 1)) - 1) };
    const bool allOnes = exponent == most && fraction == (std::uint64_t { 1 } << fields.fractionBits) - 1;
    if ((fields.nan == Fields::AllOnes && allOnes)
        || (fields.nan == Fields::NegativeZero && out.negative && out.magnitude == 0)
        || (fields.nan == Fields::Ieee && exponent == most && fraction != 0))
        out.value = std::numeric_limits<double>::quiet_NaN();
    else if (fields.nan == Fields::Ieee && exponent == most)
        out.value = std::numeric_limits<double>::infinity();
    else
        out.value =
            std::ldexp(static_cast<double>(fraction) + (exponent > 0 ? std::ldexp(1.0, fields.fractionBits) : 0.0),
                       std::max(exponent, 1) - fields.bias - fields.fractionBits);
    if (out.negative)
        out.value = -out.value;
    return out;
}

/// Two blocks in allocations of their own, so that a sanitizer sees what is read behind them.
struct Blocks {
    Blocks(std::size_t sizeBytes, std::size_t beforeOffset, std::size_t afterOffset)
        : m_before(std::make_unique<std::byte[]>(sizeBytes + beforeOffset))
        , m_after(std::make_unique<std::byte[]>(sizeBytes + afterOffset))
        , before(m_before.get() + beforeOffset, sizeBytes)
        , after(m_after.get() + afterOffset, sizeBytes)
    {
    }

private:
    std::unique_ptr<std::byte[]> m_before;
    std::unique_ptr<std::byte[]> m_after;

public:
    MutableByteSpan before;
    MutableByteSpan after;
};

/// Patterns that are special in some type of this width: zeros, denormals, the largest numbers, infinities, NaNs with
/// payloads, powers of two, each with both signs.
inline std::vector<std::uint64_t> patternsOf(Dtype dtype)
{
    const unsigned bits = bitsOf(dtype);
    const std::uint64_t sign = std::uint64_t { 1 } << (bits - 1);
    std::vector<std::uint64_t> magnitudes = { 0, 1, 2, 3, sign - 1, sign - 2 };
    for (unsigned bit = 0; bit + 1 < bits; ++bit)
        magnitudes.push_back(std::uint64_t { 1 } << bit);
    if (const std::optional<Fields> fields = fieldsOf(dtype)) {
        const std::uint64_t infinity = ((std::uint64_t { 1 } << fields->exponentBits) - 1) << fields->fractionBits;
        const std::uint64_t leastNormal = std::uint64_t { 1 } << fields->fractionBits;
        for (const std::uint64_t near : { infinity, leastNormal })
            for (const std::uint64_t off : { 0, 1, 2 }) {
                magnitudes.push_back(near + off);
                magnitudes.push_back(near - off);
            }
    }
    std::vector<std::uint64_t> out = magnitudes;
    for (const std::uint64_t magnitude : magnitudes)
        out.push_back(magnitude | sign);
    return out;
}

/// How elements of a block are made.
struct Mix {
    double special; ///< share of `before` that is one of patternsOf()
    double different; ///< share of elements that differ
};

inline Blocks blocksOf(Dtype dtype, std::size_t elements, std::size_t beforeOffset, std::size_t afterOffset, Mix mix,
                       std::mt19937_64& random)
{
    const std::size_t width = bitsOf(dtype) / 8;
    const std::uint64_t all = width == 8 ? UINT64_MAX : (std::uint64_t { 1 } << (8 * width)) - 1;
    const std::vector<std::uint64_t> patterns = patternsOf(dtype);
    std::bernoulli_distribution isSpecial(mix.special);
    std::bernoulli_distribution isDifferent(mix.different);
    // Ordinary numbers have middle exponents.
    const std::optional<Fields> fields = fieldsOf(dtype);
    const auto ordinary = [&]() -> std::uint64_t {
        if (!fields)
            return random() & all;
        const auto exponent =
            static_cast<std::uint64_t>(std::max(1, fields->bias - 1 - static_cast<int>(random() % 4)));
        const std::uint64_t fraction = random() & ((std::uint64_t { 1 } << fields->fractionBits) - 1);
        const std::uint64_t sign = random() % 2;
        return sign << (8 * width - 1) | exponent << fields->fractionBits | fraction;
    };
    Blocks out(elements * width, beforeOffset, afterOffset);
    for (std::size_t i = 0; i < elements; ++i) {
        const auto any = [&] { return isSpecial(random) ? patterns[random() % patterns.size()] : ordinary(); };
        const std::uint64_t before = any();
        std::uint64_t after = before;
        if (isDifferent(random))
            after = random() % 2 == 0 ? (before + random() % 3 - 1) & all : any();
        storeAt(out.before, i, width, before);
        storeAt(out.after, i, width, after);
    }
    return out;
}

} // namespace deltascope::test
