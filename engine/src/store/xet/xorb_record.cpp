#include "store/xet/xorb_record.h"

#include "store/xet/chunker.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace deltascope::xet {

namespace {

constexpr std::uint32_t MostOfThreeBytes = 0xFF'FFFF;

std::uint32_t loadThreeBytes(ByteSpan bytes, std::size_t at) noexcept
{
    return loadLe<std::uint32_t>(bytes, at) & MostOfThreeBytes;
}

}

Result<std::optional<Record>> nextRecord(ByteSpan rest)
{
    constexpr std::string_view Footer = "XETB";
    constexpr std::size_t SchemeAt = 4;
    if (rest.empty() || asText(rest).starts_with(Footer))
        return std::optional<Record>();
    if (rest.size() < RecordHeadBytes)
        return fail(Code::Truncated, "a xorb ends within the head of a chunk");
    const auto version = std::to_integer<unsigned>(rest[0]);
    const auto scheme = std::to_integer<unsigned>(rest[SchemeAt]);
    if (version != 0 || scheme > static_cast<unsigned>(Scheme::GroupedLz4))
        return fail(Code::Unsupported,
                    fmt::format("a xorb holds a chunk of version {} with compression {}", version, scheme));
    const std::uint32_t compressed = loadThreeBytes(rest, 1);
    Record record { static_cast<Scheme>(scheme), loadLe<std::uint32_t>(rest, SchemeAt) >> 8, {} };
    if (record.bytes == 0 || record.bytes > MostChunkBytes || compressed > MostCompressedBytes
        || (record.scheme == Scheme::None && compressed != record.bytes))
        return fail(
            Code::Hostile,
            fmt::format("a xorb holds a chunk of {} bytes in {}, which no chunk has", record.bytes, compressed));
    if (rest.size() - RecordHeadBytes < compressed)
        return fail(Code::Truncated, "a xorb ends within a chunk");
    record.data = rest.subspan(RecordHeadBytes, compressed);
    return std::optional(record);
}

void appendRecord(const Record& record, std::vector<std::byte>& xorb)
{
    std::array<std::byte, RecordHeadBytes> head {};
    storeLe(head, 0, static_cast<std::uint32_t>(record.data.size()) << 8); // behind the version, 0
    storeLe(head, 4, record.bytes << 8 | static_cast<std::uint32_t>(record.scheme));
    xorb.insert(xorb.end(), head.begin(), head.end());
    xorb.insert(xorb.end(), record.data.begin(), record.data.end());
}

} // namespace deltascope::xet
