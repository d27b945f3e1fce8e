#include "packed_counts.h"

#include <algorithm>

namespace deltascope {

namespace {

void append(std::vector<std::byte>& out, std::uint64_t value)
{
    while (value >= 0x80) {
        out.push_back(static_cast<std::byte>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<std::byte>(value));
}

std::optional<std::uint64_t> take(ByteSpan& bytes)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = std::to_integer<std::uint64_t>(bytes.front());
        bytes = bytes.subspan(1);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    return std::nullopt;
}

}

std::vector<std::byte> packCounts(std::vector<std::pair<std::uint64_t, std::uint64_t>> counts)
{
    std::sort(counts.begin(), counts.end());
    std::vector<std::byte> out;
    std::uint64_t last = 0;
    for (const auto& [id, count] : counts) {
        append(out, id - last);
        append(out, count);
        last = id;
    }
    return out;
}

std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> unpackCounts(ByteSpan bytes)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
    std::uint64_t id = 0;
    while (!bytes.empty()) {
        const std::optional<std::uint64_t> step = take(bytes);
        const std::optional<std::uint64_t> count = step ? take(bytes) : std::nullopt;
        if (!count)
            return std::nullopt;
        id += *step;
        counts.emplace_back(id, *count);
    }
    return counts;
}

} // namespace deltascope
