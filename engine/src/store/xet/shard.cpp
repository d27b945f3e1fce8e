#include "store/xet/shard.h"

#include "store/xet/chunker.h"
#include "store/xet/xorb_record.h"

#include <algorithm>
#include <array>
#include <optional>

namespace deltascope::xet {

namespace {

constexpr std::uint64_t ShardVersion = 2;
constexpr std::uint32_t HasVerification = 0x8000'0000;
constexpr std::uint32_t HasSha256 = 0x4000'0000;
// clang-format off
constexpr std::array<std::uint8_t, Hash::Size> ShardTag = {
    0x48, 0x46, 0x52, 0x65, 0x70, 0x6f, 0x4d, 0x65, 0x74, 0x61, 0x44, 0x61, 0x74, 0x61, 0x00, 0x55,
    0x69, 0x67, 0x45, 0x6a, 0x7b, 0x81, 0x57, 0x83, 0xa5, 0xbd, 0xd9, 0x5c, 0xcd, 0xd1, 0x4a, 0xa9 };
// clang-format on

Hash tagHash() noexcept
{
    Hash tag;
    std::copy(ShardTag.begin(), ShardTag.end(), reinterpret_cast<std::uint8_t*>(tag.bytes.data()));
    return tag;
}

/// Ends a section.
Hash bookend() noexcept
{
    Hash hash;
    hash.bytes.fill(std::byte { 0xFF });
    return hash;
}

struct ShardRow {
    Hash hash;
    std::array<std::uint32_t, 4> numbers {};
};

class ShardText {
public:
    explicit ShardText(std::size_t rows) { m_text.reserve(rows * ShardRowBytes); }
    void add(const Hash& hash, std::array<std::uint32_t, 4> numbers = {})
    {
        m_text += asText(hash.span());
        m_text += asText(std::as_bytes(std::span(numbers)));
    }
    std::string take() { return std::move(m_text); }

private:
    std::string m_text;
};

std::size_t rowsOf(const Shard& shard)
{
    std::size_t rows = 3; // head and two bookends
    for (const ShardFile& file : shard.files)
        rows += 1 + 2 * file.terms.size();
    for (const ShardXorb& xorb : shard.xorbs)
        rows += 1 + xorb.chunks.size();
    return rows;
}

void addFile(const ShardFile& file, ShardText& text)
{
    text.add(file.hash, { HasVerification, static_cast<std::uint32_t>(file.terms.size()), 0, 0 });
    for (const ShardTerm& term : file.terms)
        text.add(term.xorb, { 0, term.bytes, term.first, term.end });
    for (const ShardTerm& term : file.terms)
        text.add(term.verification);
}

void addXorb(const ShardXorb& xorb, ShardText& text)
{
    std::uint32_t bytes = 0;
    for (const Chunk& chunk : xorb.chunks)
        bytes += chunk.bytes;
    text.add(xorb.hash, { 0, static_cast<std::uint32_t>(xorb.chunks.size()), bytes, 0 });
    std::uint32_t begin = 0;
    for (const Chunk& chunk : xorb.chunks) {
        text.add(chunk.hash, { begin, chunk.bytes, 0, 0 });
        begin += chunk.bytes;
    }
}

tl::unexpected<Error> badShard(const char* what)
{
    return fail(Code::Hostile, std::string("a shard is not well-formed: ") + what);
}

/// Takes rows off the front of a shard.
class ShardRows {
public:
    explicit ShardRows(ByteSpan bytes)
        : m_rest(bytes)
    {
    }
    Result<ShardRow> next()
    {
        if (m_rest.size() < ShardRowBytes)
            return fail(Code::Truncated, "a shard ends within a section");
        ShardRow row;
        std::copy_n(m_rest.begin(), Hash::Size, row.hash.bytes.begin());
        for (std::size_t i = 0; i < row.numbers.size(); ++i)
            row.numbers[i] = loadLe<std::uint32_t>(m_rest, Hash::Size + i * sizeof(std::uint32_t));
        m_rest = m_rest.subspan(ShardRowBytes);
        return row;
    }
    std::size_t left() const noexcept { return m_rest.size() / ShardRowBytes; }

private:
    ByteSpan m_rest;
};

Result<ShardFile> fileIn(const ShardRow& head, ShardRows& rows)
{
    const auto [flags, count, unused, alsoUnused] = head.numbers;
    ShardFile file { head.hash, {} };
    if (count > rows.left())
        return badShard("a file has more terms than there are rows");
    for (std::uint32_t i = 0; i < count; ++i) {
        DS_TRY(const ShardRow row, rows.next());
        const auto [unusedFlags, bytes, first, end] = row.numbers;
        if (first >= end || end > MostXorbChunks || bytes == 0 || bytes > MostXorbBytes)
            return badShard("a term is beyond the limits of xorbs");
        file.terms.push_back({ row.hash, bytes, first, end, {} });
    }
    for (std::uint32_t i = 0; (flags & HasVerification) != 0 && i < count; ++i) {
        DS_TRY(const ShardRow row, rows.next());
        file.terms[i].verification = row.hash;
    }
    if ((flags & HasSha256) != 0)
        DS_CHECK(rows.next());
    return file;
}

Result<ShardXorb> xorbIn(const ShardRow& head, ShardRows& rows)
{
    const auto [flags, count, bytes, serialized] = head.numbers;
    ShardXorb xorb { head.hash, {} };
    if (count > std::min(rows.left(), MostXorbChunks))
        return badShard("a xorb has more chunks than there are rows");
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        DS_TRY(const ShardRow row, rows.next());
        const auto [begin, length, chunkFlags, unused] = row.numbers;
        if (begin != at || length == 0 || length > MostChunkBytes)
            return badShard("a chunk does not follow the one before");
        xorb.chunks.push_back({ row.hash, length });
        at += length;
    }
    return at == bytes ? Result<ShardXorb>(std::move(xorb)) : badShard("chunks do not fill their xorb");
}

}

std::string writeShard(Shard shard)
{
    const auto byHash = [](const auto& a, const auto& b) { return a.hash < b.hash; };
    std::sort(shard.files.begin(), shard.files.end(), byHash);
    std::sort(shard.xorbs.begin(), shard.xorbs.end(), byHash);
    ShardText text(rowsOf(shard));
    text.add(tagHash(), { ShardVersion, 0, 0, 0 }); // and a footer of 0 bytes
    for (const ShardFile& file : shard.files)
        addFile(file, text);
    text.add(bookend());
    for (const ShardXorb& xorb : shard.xorbs)
        addXorb(xorb, text);
    text.add(bookend());
    return text.take();
}

Result<Shard> readShard(ByteSpan bytes)
{
    if (bytes.size() > MostShardBytes)
        return badShard("it is too large");
    ShardRows rows(bytes);
    DS_TRY(const ShardRow head, rows.next());
    if (head.hash != tagHash() || head.numbers[0] != ShardVersion || head.numbers[1] != 0)
        return badShard("it does not begin like one");
    Shard shard;
    while (true) {
        DS_TRY(const ShardRow row, rows.next());
        if (row.hash == bookend())
            break;
        DS_TRY(ShardFile file, fileIn(row, rows));
        shard.files.push_back(std::move(file));
    }
    while (true) {
        DS_TRY(const ShardRow row, rows.next());
        if (row.hash == bookend())
            return shard;
        DS_TRY(ShardXorb xorb, xorbIn(row, rows));
        shard.xorbs.push_back(std::move(xorb));
    }
}

} // namespace deltascope::xet
