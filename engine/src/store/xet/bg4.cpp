#include "store/xet/bg4.h"

#include <array>
#include <cstdint>

namespace deltascope::xet {

namespace {

constexpr std::size_t Groups = 4;

/// Where each group begins among `count` grouped bytes.
std::array<std::size_t, Groups> groupBegins(std::size_t count) noexcept
{
    std::array<std::size_t, Groups> begins {};
    for (std::size_t group = 1; group < Groups; ++group)
        begins[group] = begins[group - 1] + (count + Groups - group) / Groups;
    return begins;
}

}

void groupBytes(ByteSpan bytes, MutableByteSpan out) noexcept
{
    const auto begins = groupBegins(bytes.size());
    const std::size_t whole = bytes.size() / Groups;
    std::byte* const first = out.data();
    std::byte* const second = out.data() + begins[1];
    std::byte* const third = out.data() + begins[2];
    std::byte* const fourth = out.data() + begins[3];
    for (std::size_t i = 0; i < whole; ++i) {
        const auto word = loadLe<std::uint32_t>(bytes, i * Groups);
        first[i] = static_cast<std::byte>(word);
        second[i] = static_cast<std::byte>(word >> 8);
        third[i] = static_cast<std::byte>(word >> 16);
        fourth[i] = static_cast<std::byte>(word >> 24);
    }
    for (std::size_t i = whole * Groups; i < bytes.size(); ++i)
        out[begins[i % Groups] + whole] = bytes[i];
}

void ungroupBytes(ByteSpan grouped, MutableByteSpan out) noexcept
{
    const auto begins = groupBegins(grouped.size());
    const std::size_t whole = grouped.size() / Groups;
    const std::byte* const first = grouped.data();
    const std::byte* const second = grouped.data() + begins[1];
    const std::byte* const third = grouped.data() + begins[2];
    const std::byte* const fourth = grouped.data() + begins[3];
    for (std::size_t i = 0; i < whole; ++i) {
        const auto at = [i](const std::byte* group) { return std::to_integer<std::uint32_t>(group[i]); };
        storeLe(out, i * Groups, at(first) | at(second) << 8 | at(third) << 16 | at(fourth) << 24);
    }
    for (std::size_t i = whole * Groups; i < grouped.size(); ++i)
        out[i] = grouped[begins[i % Groups] + whole];
}

} // namespace deltascope::xet
