#include "format/slime_v2/slime_v2_stream.h"

#include "format/common/position_decoder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t PositionBytes = 4;
constexpr std::size_t BatchBytes = 4096 * PositionBytes;
constexpr std::uint64_t SkipBytes = 64 * 1024;

tl::unexpected<Error> outOfOrder() { return fail(Code::Internal, "blocks of a tensor were asked for out of order"); }

} // namespace

SlimeOverwriteStream::SlimeOverwriteStream(BufferedExtent positions, BufferedExtent values, const TensorInfo& target)
    : m_positionInput(std::move(positions), target.name)
    , m_valueInput(std::move(values), target.name)
    , m_bytes(target.bytes())
{
}

Result<PatchPiece> SlimeOverwriteStream::next(std::uint64_t begin, std::uint64_t end)
{
    if (begin < m_at || end < begin || end > m_bytes)
        return outOfOrder();
    if (!m_started)
        DS_CHECK(start());
    if (begin > m_at)
        DS_CHECK(skipTo(begin));
    DS_TRY(const std::size_t count, decode(begin, end));
    m_at = end;
    if (count == 0)
        return PatchPiece();
    if (m_values.size() < count)
        m_values.resize(count);
    const MutableByteSpan values = MutableByteSpan(m_values).first(count);
    DS_CHECK(m_valueInput.read(values));
    return PatchPiece(AssignBytes { std::span(m_positions.data(), count), values });
}

Result<void> SlimeOverwriteStream::finish()
{
    if (!m_started)
        DS_CHECK(start());
    if (m_unread != 0 || m_storedAt != m_storedEnd)
        return fail(m_valueInput.refusal("has positions that are left over"));
    return m_valueInput.expectEnd();
}

Result<std::uint64_t> SlimeOverwriteStream::workingBytes()
{
    DS_TRY(const std::uint64_t one, m_positionInput.workingBytes());
    return 2 * one; // both read the same frame
}

Result<void> SlimeOverwriteStream::start()
{
    std::array<std::byte, 4> count {};
    DS_CHECK(m_positionInput.read(count));
    m_unread = loadLe<std::uint32_t>(count);
    if (m_unread > m_bytes) {
        return fail(m_positionInput.refusal(fmt::format("names {} bytes, but the tensor has {}", m_unread, m_bytes),
                                            Code::Malformed));
    }
    DS_CHECK(m_valueInput.skip(count.size() + m_unread * PositionBytes));
    m_started = true;
    return {};
}

Result<void> SlimeOverwriteStream::fillStored()
{
    if (m_stored.empty())
        m_stored.resize(BatchBytes);
    m_storedAt = 0;
    m_storedEnd = std::min<std::uint64_t>(BatchBytes, m_unread * PositionBytes);
    DS_CHECK(m_positionInput.read(MutableByteSpan(m_stored).first(m_storedEnd)));
    m_unread -= m_storedEnd / PositionBytes;
    return {};
}

Result<std::size_t> SlimeOverwriteStream::decode(std::uint64_t begin, std::uint64_t end)
{
    std::size_t count = 0;
    while (m_unread > 0 || m_storedAt < m_storedEnd) {
        if (m_storedAt == m_storedEnd)
            DS_CHECK(fillStored());
        const std::size_t batch = (m_storedEnd - m_storedAt) / PositionBytes;
        if (m_positions.size() < count + batch)
            m_positions.resize(count + batch);
        const std::size_t decoded = decodePositions<std::uint32_t>(m_stored.data() + m_storedAt, batch, begin, end,
                                                                   m_smallest, m_positions.data() + count);
        m_storedAt += decoded * PositionBytes;
        count += decoded;
        if (decoded < batch) {
            DS_CHECK(checkStop());
            break;
        }
    }
    return count;
}

Result<void> SlimeOverwriteStream::checkStop() const
{
    const std::uint64_t position = loadLe<std::uint32_t>(m_stored, m_storedAt);
    if (position < m_smallest) {
        return fail(m_positionInput.refusal(
            fmt::format("has byte position {} behind {}: positions must ascend", position, m_smallest - 1),
            Code::Malformed));
    }
    if (position >= m_bytes)
        return fail(m_positionInput.refusal(
            fmt::format("has byte position {}, but the tensor has {} bytes", position, m_bytes), Code::Malformed));
    return {};
}

Result<void> SlimeOverwriteStream::skipTo(std::uint64_t begin)
{
    while (m_at < begin) {
        const std::uint64_t end = std::min(begin, m_at + SkipBytes);
        DS_TRY(const std::size_t count, decode(m_at, end));
        DS_CHECK(m_valueInput.skip(count));
        m_at = end;
    }
    return {};
}

} // namespace deltascope
