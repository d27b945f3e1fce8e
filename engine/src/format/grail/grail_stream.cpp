#include "format/grail/grail_stream.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

std::uint64_t elementsInRow(const TensorInfo& tensor)
{
    std::uint64_t elements = 1;
    for (std::size_t i = 1; i < tensor.shape.size(); ++i)
        elements *= tensor.shape[i];
    return elements;
}

}

GrailStream::GrailStream(GrailEncoding encoding, std::uint64_t count, BufferedExtent rows,
                         std::optional<BufferedExtent> columns, BufferedExtent values, const TensorInfo& target)
    : m_encoding(encoding)
    , m_left(count)
    , m_rows(std::move(rows))
    , m_columns(std::move(columns))
    , m_values(std::move(values))
    , m_name(target.name)
    , m_elements(target.elements())
    , m_rowElements(elementsInRow(target))
    , m_valueBytes(bitsOf(target.dtype) / 8)
{
}

Result<PatchPiece> GrailStream::next(std::uint64_t begin, std::uint64_t end)
{
    const std::uint64_t first = begin / m_valueBytes;
    const std::uint64_t last = end / m_valueBytes;
    if (first < m_at || last < first || last > m_elements)
        return fail(Code::Internal, "blocks of a tensor were asked for out of order", m_rows.key());
    std::uint64_t skipped = 0;
    std::size_t count = 0;
    for (;;) {
        DS_CHECK(decode());
        if (!m_pending || *m_pending >= last)
            break;
        if (*m_pending < first) {
            ++skipped;
        } else {
            if (m_positions.size() == count)
                m_positions.resize(std::max<std::size_t>(64, count * 2));
            m_positions[count++] = static_cast<std::uint32_t>(*m_pending - first);
        }
        m_pending.reset();
    }
    m_at = last;
    m_values.skip(skipped * m_valueBytes);
    if (count == 0)
        return PatchPiece();
    DS_TRY(const ByteSpan values, m_values.take(count * m_valueBytes));
    return PatchPiece(AssignElements { std::span(m_positions.data(), count), values });
}

Result<void> GrailStream::finish()
{
    if (m_left != 0 || m_pending || m_values.left() != 0)
        return fail(hostile("has positions or values that are left over"));
    return {};
}

Result<std::uint64_t> GrailStream::takeNumber(BufferedExtent& input, std::size_t bytes, bool isSigned, const char* what)
{
    DS_CHECK(input.fill(bytes));
    const ByteSpan stored = input.buffered();
    const std::int64_t number = bytes == 1 ? std::int64_t { loadLe<std::uint8_t>(stored) }
        : bytes == 2                       ? std::int64_t { loadLe<std::uint16_t>(stored) }
                                           : std::int64_t { loadLe<std::int32_t>(stored) };
    input.consume(bytes);
    if (isSigned && number < 0)
        return fail(hostile(fmt::format("has the negative {} {}", what, number)));
    return static_cast<std::uint64_t>(number);
}

Result<void> GrailStream::decode()
{
    if (m_pending || m_left == 0)
        return {};
    --m_left;
    std::uint64_t position = 0;
    if (m_encoding.positions == GrailPositions::Flat) {
        DS_TRY(const std::uint64_t difference, takeNumber(m_rows, 4, true, "difference"));
        position = m_last.value_or(0) + difference;
    } else {
        const std::size_t rowBytes = m_encoding.positions == GrailPositions::Rows8 ? 1
            : m_encoding.positions == GrailPositions::Rows16                       ? 2
                                                                                   : 4;
        DS_TRY(const std::uint64_t down, takeNumber(m_rows, rowBytes, true, "row difference"));
        DS_TRY(const std::uint64_t right, takeNumber(*m_columns, m_encoding.wideColumns ? 4 : 2, true, "column"));
        m_row += down;
        m_column = m_first || down != 0 ? right : m_column + right;
        if (m_column >= m_rowElements)
            return fail(hostile(fmt::format("has column {}, but a row has {} elements", m_column, m_rowElements)));
        if (m_row > m_elements / m_rowElements)
            return fail(hostile(fmt::format("has row {}, but the tensor has {} elements", m_row, m_elements)));
        position = m_row * m_rowElements + m_column;
    }
    m_first = false;
    if (m_last && position <= *m_last)
        return fail(hostile(fmt::format("has position {} behind {}: positions must ascend", position, *m_last)));
    if (position >= m_elements)
        return fail(hostile(fmt::format("has position {}, but the tensor has {} elements", position, m_elements)));
    m_last = position;
    m_pending = position;
    return {};
}

Error GrailStream::hostile(const std::string& text) const
{
    return Error { Code::Malformed, fmt::format("the patch of {} {}", quoteName(m_name), text), m_rows.key(), {}, {} };
}

} // namespace deltascope
