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

void SpoolPayload::add(const std::vector<SpoolRange>& ranges)
{
    for (const SpoolRange& range : ranges)
        addPiece(range, false);
}

void SpoolPayload::addWidened(const std::vector<SpoolRange>& ranges)
{
    for (const SpoolRange& range : ranges)
        addPiece(range, true);
}

void SpoolPayload::addPiece(const SpoolRange& range, bool widened)
{
    if (range.bytes == 0)
        return;
    m_pieces.push_back({ m_size, widened ? range.bytes * 2 : range.bytes, range.offset, widened });
    m_size += m_pieces.back().bytes;
}

Result<std::size_t> SpoolPayload::read(std::uint64_t offset, MutableByteSpan out) const
{
    std::size_t done = 0;
    if (offset < m_text.size()) {
        done = std::min<std::size_t>(out.size(), m_text.size() - offset);
        std::memcpy(out.data(), m_text.data() + offset, done);
    }
    auto piece = std::upper_bound(m_pieces.begin(), m_pieces.end(), offset + done,
                                  [](std::uint64_t at, const Piece& each) { return at < each.begin + each.bytes; });
    for (; done < out.size() && piece != m_pieces.end(); ++piece) {
        const std::uint64_t at = offset + done - piece->begin;
        const std::size_t bytes = std::min<std::uint64_t>(out.size() - done, piece->bytes - at);
        DS_CHECK(readPiece(*piece, at, out.subspan(done, bytes)));
        done += bytes;
    }
    return done;
}

Result<void> SpoolPayload::readPiece(const Piece& piece, std::uint64_t at, MutableByteSpan out) const
{
    if (!piece.widened)
        return m_spool->read(piece.spooled + at, out);
    std::vector<std::byte> narrow;
    std::vector<std::byte> wide;
    for (std::size_t done = 0; done < out.size();) {
        const std::uint64_t first = (at + done) / 4; // the u32 that the next byte belongs to
        const std::size_t skipped = (at + done) % 4;
        const std::size_t count = std::min<std::size_t>(ReadBytes / 4, (skipped + out.size() - done + 3) / 4);
        narrow.resize(count * 2);
        DS_CHECK(m_spool->read(piece.spooled + first * 2, narrow));
        wide.resize(count * 4);
        for (std::size_t i = 0; i < count; ++i)
            storeLe<std::uint32_t>(wide, i * 4, loadLe<std::uint16_t>(narrow, i * 2));
        const std::size_t bytes = std::min(out.size() - done, wide.size() - skipped);
        std::copy_n(wide.data() + skipped, bytes, out.data() + done);
        done += bytes;
    }
    return {};
}

} // namespace deltascope
