#include "format/common/spool_file.h"

#include <algorithm>
#include <cstring>

namespace deltascope {

namespace {

constexpr std::size_t ReadBytes = 256 * 1024;

/// Ranges that touch become one.
void addRange(std::vector<SpoolRange>& ranges, const SpoolRange& range)
{
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == range.offset)
        ranges.back().bytes += range.bytes;
    else if (range.bytes != 0)
        ranges.push_back(range);
}

} // namespace

Result<std::unique_ptr<SpoolFile>> SpoolFile::create(const std::string& folder)
{
    DS_TRY(std::unique_ptr<Scratch> file, Scratch::create(folder));
    return std::unique_ptr<SpoolFile>(new SpoolFile(std::move(file)));
}

Result<SpoolRange> SpoolFile::append(ByteSpan bytes)
{
    const SpoolRange range = reserve(bytes.size());
    DS_CHECK(write(range.offset, bytes));
    return range;
}

Result<void> SpooledBytes::append(ByteSpan bytes)
{
    if (m_buffer.size() + bytes.size() > BufferBytes)
        DS_CHECK(flush());
    if (bytes.size() < BufferBytes) {
        m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
        return {};
    }
    DS_TRY(const SpoolRange range, m_spool->append(bytes));
    addRange(m_ranges, range);
    m_spooled += range.bytes;
    return {};
}

Result<void> SpooledBytes::flush()
{
    if (m_buffer.empty())
        return {};
    DS_TRY(const SpoolRange range, m_spool->append(m_buffer));
    addRange(m_ranges, range);
    m_spooled += range.bytes;
    m_buffer.clear();
    return {};
}

Result<std::vector<SpoolRange>> SpooledBytes::finish()
{
    DS_CHECK(flush());
    return m_ranges;
}

Result<void> SpooledBytes::forEach(const std::function<Result<void>(ByteSpan)>& take) const
{
    std::vector<std::byte> chunk;
    for (const SpoolRange& range : m_ranges) {
        for (std::uint64_t at = 0; at < range.bytes; at += chunk.size()) {
            chunk.resize(std::min<std::uint64_t>(ReadBytes, range.bytes - at));
            DS_CHECK(m_spool->read(range.offset + at, chunk));
            DS_CHECK(take(chunk));
        }
    }
    return m_buffer.empty() ? Result<void>() : take(m_buffer);
}

void SpooledBytes::drop() noexcept
{
    for (const SpoolRange& range : m_ranges)
        m_spool->release(range);
    m_ranges.clear();
    m_spooled = 0;
    m_buffer.clear();
}

void SpoolSource::add(const std::vector<SpoolRange>& ranges)
{
    for (const SpoolRange& range : ranges) {
        m_pieces.push_back({ range, false });
        m_size += range.bytes;
    }
}

void SpoolSource::addWidened(const std::vector<SpoolRange>& ranges)
{
    for (const SpoolRange& range : ranges) {
        m_pieces.push_back({ range, true });
        m_size += range.bytes * 2;
    }
}

void SpoolSource::rewind() noexcept
{
    m_textAt = 0;
    m_piece = 0;
    m_pieceAt = 0;
    m_wide.clear();
    m_wideAt = 0;
}

Result<std::size_t> SpoolSource::read(MutableByteSpan out)
{
    std::size_t done = std::min<std::size_t>(out.size(), m_text.size() - m_textAt);
    if (done != 0)
        std::memcpy(out.data(), m_text.data() + m_textAt, done);
    m_textAt += done;
    while (done < out.size() && m_piece < m_pieces.size()) {
        DS_TRY(const std::size_t got, readPiece(m_pieces[m_piece], out.subspan(done)));
        done += got;
        if (got == 0) {
            ++m_piece;
            m_pieceAt = 0;
        }
    }
    return done;
}

Result<std::size_t> SpoolSource::readPiece(const Piece& piece, MutableByteSpan out)
{
    if (!piece.widened) {
        const std::size_t bytes = std::min<std::uint64_t>(out.size(), piece.range.bytes - m_pieceAt);
        DS_CHECK(m_spool->read(piece.range.offset + m_pieceAt, out.first(bytes)));
        m_pieceAt += bytes;
        return bytes;
    }
    if (m_wideAt == m_wide.size()) {
        const std::size_t bytes = std::min<std::uint64_t>(ReadBytes, piece.range.bytes - m_pieceAt);
        std::vector<std::byte> narrow(bytes);
        DS_CHECK(m_spool->read(piece.range.offset + m_pieceAt, narrow));
        m_pieceAt += bytes;
        m_wide.resize(bytes * 2);
        m_wideAt = 0;
        for (std::size_t i = 0; i < bytes; i += 2)
            storeLe<std::uint32_t>(m_wide, i * 2, loadLe<std::uint16_t>(narrow, i));
    }
    const std::size_t bytes = std::min(out.size(), m_wide.size() - m_wideAt);
    std::copy_n(m_wide.data() + m_wideAt, bytes, out.data());
    m_wideAt += bytes;
    return bytes;
}

} // namespace deltascope
