#include "format/trl_v2/trl_v2_stream.h"

#include "format/common/position_decoder.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// Positions that are decoded at a time; bounds how much room a sparse stream takes.
constexpr std::size_t BatchItems = 4096;
constexpr std::uint64_t SkipElements = 64 * 1024;

} // namespace

TrlPairStream::TrlPairStream(TrlIndexForm form, BufferedExtent positions, BufferedExtent values,
                             const TensorInfo& target)
    : m_form(form)
    , m_itemBytes(form == TrlIndexForm::Gap16 ? 2 : 4)
    , m_valueBytes(bitsOf(target.dtype) / 8)
    , m_index(std::move(positions))
    , m_values(std::move(values))
    , m_name(target.name)
    , m_elements(target.elements())
{
}

Result<PatchPiece> TrlPairStream::next(std::uint64_t begin, std::uint64_t end)
{
    const std::uint64_t first = begin / m_valueBytes;
    const std::uint64_t last = end / m_valueBytes;
    if (first < m_at || last < first || last > m_elements)
        return fail(Code::Internal, "blocks of a tensor were asked for out of order", m_index.key());
    if (first > m_at)
        DS_CHECK(skipTo(first));
    DS_TRY(const std::size_t count, decode(first, last));
    m_at = last;
    if (count == 0)
        return PatchPiece();
    DS_TRY(const ByteSpan values, m_values.take(count * m_valueBytes));
    return PatchPiece(AssignElements { std::span(m_positions.data(), count), values });
}

Result<void> TrlPairStream::finish()
{
    if (m_index.left() != 0 || m_values.left() != 0)
        return fail(hostile("has positions or values that are left over"));
    return {};
}

Result<std::size_t> TrlPairStream::decode(std::uint64_t begin, std::uint64_t end)
{
    std::size_t count = 0;
    while (m_index.left() > 0) {
        DS_CHECK(m_index.fill(m_itemBytes));
        const ByteSpan stored = m_index.buffered();
        const std::size_t batch = std::min(stored.size() / m_itemBytes, BatchItems);
        if (m_positions.size() < count + batch)
            m_positions.resize(count + batch);

        std::uint32_t* const out = m_positions.data() + count;
        std::size_t decoded = 0;
        switch (m_form) {
        case TrlIndexForm::Gap16:
            decoded = decodeGaps<std::uint16_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        case TrlIndexForm::Gap32:
            decoded = decodeGaps<std::uint32_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        default:
            decoded = decodePositions<std::int32_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        }
        m_index.consume(decoded * m_itemBytes);
        count += decoded;
        if (decoded < batch) {
            DS_CHECK(checkStop());
            break;
        }
    }
    return count;
}

Result<void> TrlPairStream::skipTo(std::uint64_t begin)
{
    while (m_at < begin) {
        const std::uint64_t end = std::min(begin, m_at + SkipElements);
        DS_TRY(const std::size_t count, decode(m_at, end));
        m_values.skip(count * m_valueBytes);
        m_at = end;
    }
    return {};
}

Result<void> TrlPairStream::checkStop() const
{
    const ByteSpan stored = m_index.buffered();
    if (m_form != TrlIndexForm::Raw) {
        const std::uint64_t gap =
            m_form == TrlIndexForm::Gap16 ? loadLe<std::uint16_t>(stored) : loadLe<std::uint32_t>(stored);
        if (gap >= m_elements - m_smallest)
            return fail(
                hostile(fmt::format("has position {}, but the tensor has {} elements", m_smallest + gap, m_elements)));
        return {};
    }
    const auto position = std::int64_t { loadLe<std::int32_t>(stored) };
    if (position < 0)
        return fail(hostile(fmt::format("has the negative position {}", position)));
    if (static_cast<std::uint64_t>(position) < m_smallest)
        return fail(hostile(fmt::format("has position {} behind {}: positions must ascend", position, m_smallest - 1)));
    if (static_cast<std::uint64_t>(position) >= m_elements)
        return fail(hostile(fmt::format("has position {}, but the tensor has {} elements", position, m_elements)));
    return {};
}

Error TrlPairStream::hostile(std::string text) const
{
    return Error { Code::Hostile, fmt::format("the patch of {} {}", quoteName(m_name), text), m_index.key(), {}, {} };
}

} // namespace deltascope
