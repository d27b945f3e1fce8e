#include "format/common/writer_rules.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MaxNameBytes = 1024;
constexpr std::string_view FactStart = "ds.";

} // namespace

bool isWritableText(std::string_view text) noexcept
{
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t bytes = lead < 0x80 ? 1
            : lead < 0xC2                     ? 0
            : lead < 0xE0                     ? 2
            : lead < 0xF0                     ? 3
            : lead < 0xF5                     ? 4
                                              : 0;
        if (bytes == 0 || bytes > text.size() - at)
            return false;
        std::uint32_t point = bytes == 1 ? lead : lead & (0x7FU >> bytes);
        for (std::size_t i = 1; i < bytes; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xC0U) != 0x80)
                return false;
            point = point << 6 | (next & 0x3FU);
        }
        const bool overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000);
        const bool outside = (point >= 0xD800 && point <= 0xDFFF) || point > 0x10FFFF;
        const bool control = point < 0x20 || (point >= 0x7F && point <= 0x9F);
        const bool bidirectional = point == 0x061C || point == 0x200E || point == 0x200F
            || (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
        if (overlong || outside || control || bidirectional)
            return false;
        at += bytes;
    }
    return true;
}

Result<void> checkTensorName(std::string_view name)
{
    if (name == "__metadata__")
        return fail(Code::Usage, "a tensor cannot be called __metadata__ in a safetensors file");
    if (name.size() > MaxNameBytes)
        return fail(Code::Usage,
                    fmt::format("the tensor name {} is longer than {} bytes", quoteName(name), MaxNameBytes));
    if (!isWritableText(name))
        return fail(Code::Usage,
                    fmt::format("the tensor name {} holds control characters or is not UTF-8", quoteName(name)));
    return {};
}

tl::unexpected<Error> occursTwice(std::string_view name)
{
    return fail(Code::Usage, fmt::format("{} occurs twice in one version", quoteName(name)));
}

Result<void> checkFact(std::string_view key, std::string_view value)
{
    if (key.substr(0, FactStart.size()) != FactStart || key.size() == FactStart.size() || !isWritableText(key))
        return fail(Code::Usage, fmt::format("a fact of ours is called ds.something, not {}", quoteName(key)));
    if (!isWritableText(value))
        return fail(Code::Usage, fmt::format("the value of {} is no plain text: {}", quoteName(key), quoteName(value)));
    return {};
}

Result<void> checkFacts(const VersionFactMap& facts)
{
    for (const auto& [key, value] : facts)
        DS_CHECK(checkFact(key, value));
    return {};
}

std::uint64_t changeUnitBytes(Dtype dtype) noexcept
{
    return std::max(1U, bitsOf(dtype) % 8 == 0 ? bitsOf(dtype) / 8 : 1U);
}

BlockCursor::BlockCursor(const TensorInfo& tensor)
    : m_name(tensor.name)
    , m_bytes(tensor.bytes())
    , m_unit(changeUnitBytes(tensor.dtype))
{
}

Result<void> BlockCursor::take(std::uint64_t bytes, const ElementChanges* changes)
{
    if (bytes > m_bytes - m_at || bytes % m_unit != 0)
        return defect("a block reaches beyond the tensor or cuts an element");
    if (changes && !changes->positions.empty()) {
        const std::span<const std::uint32_t> positions = changes->positions;
        if (changes->firstElement != m_at / m_unit)
            return defect("changes belong to another block");
        if (changes->values.size() != positions.size() * m_unit)
            return defect("changes have another number of values than of positions");
        bool ascending = true;
        for (std::size_t i = 1; i < positions.size(); ++i)
            ascending &= positions[i - 1] < positions[i];
        if (!ascending || positions.back() >= bytes / m_unit)
            return defect("changes do not ascend inside their block");
    }
    m_at += bytes;
    return {};
}

Result<void> BlockCursor::expectEnd() const
{
    return m_at == m_bytes ? Result<void>() : Result<void>(defect("a tensor was ended before its last block"));
}

tl::unexpected<Error> BlockCursor::defect(const char* text) const
{
    return fail(Code::Internal, fmt::format("{}: {} at byte {}", quoteName(m_name), text, m_at));
}

Result<bool> holdsSameBytes(const ObjectStore& store, const ObjectInfo& object, const Payload& source,
                            TaskContext& task)
{
    constexpr std::size_t ChunkBytes = 1U << 20;
    if (object.sizeBytes != source.sizeBytes() || object.hasUnwrittenPart)
        return false;
    std::vector<std::byte> ours(ChunkBytes), theirs(ChunkBytes);
    for (std::uint64_t at = 0;;) {
        DS_CHECK(task.checkpoint());
        DS_TRY(const std::size_t got, source.read(at, ours));
        if (got == 0)
            return at == object.sizeBytes;
        DS_CHECK(store.read(object, at, MutableByteSpan(theirs).first(got), task));
        if (!std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(got), theirs.begin()))
            return false;
        at += got;
    }
}

Result<std::string> versionHeader(const std::vector<TensorInfo>& tensors, const VersionFactMap& metadata)
{
    std::string header = writeSafetensorsHeader(tensors, metadata);
    if (header.size() - 8 > SafetensorsHeader::MaxHeaderBytes)
        return fail(Code::Unsupported,
                    fmt::format("the header of {} tensors is longer than the {} bytes that readers take",
                                tensors.size(), SafetensorsHeader::MaxHeaderBytes),
                    {}, "Store the model in fewer tensors, as stacked experts are.");
    return header;
}

} // namespace deltascope
