#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace deltascope {

/// The bytes that hexadecimal of either case stands for. Nothing: other letters, or another number of bytes.
template <std::size_t Size> std::optional<std::array<std::byte, Size>> bytesFromHex(std::string_view hex) noexcept
{
    if (hex.size() != 2 * Size)
        return std::nullopt;
    std::array<std::byte, Size> bytes {};
    for (std::size_t i = 0; i < Size; ++i) {
        const char* const begin = hex.data() + 2 * i;
        unsigned byte = 0;
        if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
            return std::nullopt;
        bytes[i] = static_cast<std::byte>(byte);
    }
    return bytes;
}

} // namespace deltascope
