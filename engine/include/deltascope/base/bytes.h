#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace deltascope {

static_assert(std::endian::native == std::endian::little, "file formats here are little-endian, as is every target");

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

/// Reads a little-endian integer at `at`; the caller guarantees that it lies inside `bytes`.
template <class Integer> Integer loadLe(ByteSpan bytes, std::size_t at = 0) noexcept
{
    static_assert(std::is_integral_v<Integer>);
    Integer value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <class Integer> void storeLe(MutableByteSpan bytes, std::size_t at, Integer value) noexcept
{
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline ByteSpan asBytes(std::string_view text) noexcept { return std::as_bytes(std::span(text.data(), text.size())); }

inline std::string_view asText(ByteSpan bytes) noexcept
{
    return { reinterpret_cast<const char*>(bytes.data()), bytes.size() };
}

/// a * b, or nothing on overflow.
inline std::optional<std::uint64_t> checkedMul(std::uint64_t a, std::uint64_t b) noexcept
{
    std::uint64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

inline std::optional<std::uint64_t> checkedAdd(std::uint64_t a, std::uint64_t b) noexcept
{
    std::uint64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

/// Lower-case hexadecimal.
std::string toHex(ByteSpan bytes);

/// For people, in decimal units: "187.4 kB".
std::string bytesText(std::uint64_t bytes);

/// A whole decimal number without sign, or nothing.
std::optional<std::int64_t> parseNumber(std::string_view digits) noexcept;

} // namespace deltascope
