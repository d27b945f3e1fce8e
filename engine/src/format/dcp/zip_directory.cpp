// Field positions: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3.

#include "format/dcp/zip_directory.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <zlib.h>

namespace deltascope {

namespace {

constexpr std::uint32_t LocalSignature = 0x04034b50;
constexpr std::uint32_t EntrySignature = 0x02014b50;
constexpr std::uint32_t EndSignature = 0x06054b50;
constexpr std::uint32_t End64Signature = 0x06064b50;
constexpr std::uint32_t LocatorSignature = 0x07064b50;

constexpr std::uint64_t LocalBytes = 30;
constexpr std::uint64_t EntryBytes = 46;
constexpr std::uint64_t EndBytes = 22;
constexpr std::uint64_t LocatorBytes = 20;
constexpr std::uint64_t End64Bytes = 56;

constexpr std::uint16_t Zip64Field = 1;
constexpr std::uint16_t Encrypted = 1;
constexpr std::uint16_t Full16 = 0xFFFF;
constexpr std::uint32_t Full32 = 0xFFFFFFFF;

/// What is usually read of an archive before its size is known: directory and end records of a tensor.
constexpr std::uint64_t UsualTailBytes = 1024;

tl::unexpected<Error> malformed(const NearbyReader& reader, const std::string& what)
{
    return fail(Code::Malformed, what, reader.object().key);
}

struct DirectoryPlace {
    std::uint64_t records = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// The place in a ZIP64 end record, which a locator right before the end record leads to.
Result<DirectoryPlace> readEnd64(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes)
{
    if (bytes < EndBytes + LocatorBytes + End64Bytes)
        return malformed(reader, "an archive is too short for the ZIP64 records that it needs");
    const std::uint64_t locatorAt = bytes - EndBytes - LocatorBytes;
    std::array<std::byte, LocatorBytes> locator {};
    DS_CHECK(reader.read(begin + locatorAt, locator));
    const auto endAt = loadLe<std::uint64_t>(locator, 8);
    if (loadLe<std::uint32_t>(locator) != LocatorSignature || endAt > locatorAt - End64Bytes)
        return malformed(reader, "an archive needs ZIP64 records and has none");
    std::array<std::byte, End64Bytes> end {};
    DS_CHECK(reader.read(begin + endAt, end));
    if (loadLe<std::uint32_t>(end) != End64Signature)
        return malformed(reader, "an archive needs ZIP64 records and has none");
    return DirectoryPlace { loadLe<std::uint64_t>(end, 32), loadLe<std::uint64_t>(end, 48),
                            loadLe<std::uint64_t>(end, 40) };
}

Result<DirectoryPlace> findDirectory(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes)
{
    std::array<std::byte, EndBytes> end {};
    if (bytes < EndBytes)
        return malformed(reader, "an item is too short for an archive");
    DS_CHECK(reader.read(begin + bytes - EndBytes, end));
    if (loadLe<std::uint32_t>(end) != EndSignature || loadLe<std::uint16_t>(end, 20) != 0)
        return fail(Code::Unsupported, "an item is no ZIP archive as torch.save writes it since PyTorch 1.6",
                    reader.object().key);
    DirectoryPlace place { loadLe<std::uint16_t>(end, 10), loadLe<std::uint32_t>(end, 16),
                           loadLe<std::uint32_t>(end, 12) };
    if (place.records == Full16 || place.offset == Full32 || place.bytes == Full32) {
        DS_TRY(place, readEnd64(reader, begin, bytes));
    }
    if (place.records > ZipDirectory::MaxRecords || place.bytes > ZipDirectory::MaxBytes)
        return fail(Code::Hostile, "an archive has a larger directory than a tensor needs", reader.object().key);
    if (place.offset > bytes - EndBytes || place.bytes > bytes - EndBytes - place.offset)
        return malformed(reader, "the directory of an archive lies outside of it");
    return place;
}

/// Replaces the values that did not fit into 32 bits by those of the ZIP64 field, which holds only such.
bool widen(ByteSpan extra, std::array<std::uint64_t*, 3> values)
{
    const auto isFull = [](const std::uint64_t* value) { return *value == Full32; };
    if (std::none_of(values.begin(), values.end(), isFull))
        return true;
    for (;;) {
        if (extra.size() < 4)
            return false;
        const auto id = loadLe<std::uint16_t>(extra);
        const std::size_t length = loadLe<std::uint16_t>(extra, 2);
        if (length > extra.size() - 4)
            return false;
        if (id == Zip64Field) {
            std::size_t at = 4;
            for (std::uint64_t* value : values) {
                if (!isFull(value))
                    continue;
                if (at + 8 > 4 + length)
                    return false;
                *value = loadLe<std::uint64_t>(extra, at);
                at += 8;
            }
            return true;
        }
        extra = extra.subspan(4 + length);
    }
}

} // namespace

Result<ZipDirectory> ZipDirectory::read(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes)
{
    // One small request brings the directory and what stands behind it into the reader's window.
    std::array<std::byte, 1> first {};
    const std::uint64_t tail = std::min(bytes, UsualTailBytes);
    if (tail > 0)
        DS_CHECK(reader.read(begin + bytes - tail, first));

    DS_TRY(const DirectoryPlace place, findDirectory(reader, begin, bytes));
    std::vector<std::byte> raw(place.bytes);
    DS_CHECK(reader.read(begin + place.offset, raw));
    ZipDirectory directory;
    directory.m_begin = begin;
    directory.m_directory = place.offset;
    if (Result<void> parsed = directory.parse(raw, place.records); !parsed)
        return fail(parsed.error().code, parsed.error().text, reader.object().key);
    return directory;
}

Result<void> ZipDirectory::parse(ByteSpan raw, std::uint64_t records)
{
    std::string_view folder;
    for (std::uint64_t i = 0; i < records; ++i) {
        if (raw.size() < EntryBytes || loadLe<std::uint32_t>(raw) != EntrySignature)
            return fail(Code::Malformed, "the directory of an archive is broken");
        const std::size_t nameBytes = loadLe<std::uint16_t>(raw, 28);
        const std::size_t extraBytes = loadLe<std::uint16_t>(raw, 30);
        const std::size_t entryBytes = EntryBytes + nameBytes + extraBytes + loadLe<std::uint16_t>(raw, 32);
        if (entryBytes > raw.size())
            return fail(Code::Malformed, "the directory of an archive is broken");
        const std::string_view name = asText(raw.subspan(EntryBytes, nameBytes));
        const std::size_t slash = name.find('/');
        if (slash == std::string_view::npos || (i > 0 && name.substr(0, slash) != folder))
            return fail(Code::Hostile, fmt::format("an archive holds {} outside of its folder", quoteName(name)));
        folder = name.substr(0, slash);

        ZipRecord record { std::string(name.substr(slash + 1)), std::string(name),
                           loadLe<std::uint32_t>(raw, 42),      loadLe<std::uint32_t>(raw, 24),
                           loadLe<std::uint32_t>(raw, 16),      false };
        std::uint64_t packed = loadLe<std::uint32_t>(raw, 20);
        if (!widen(raw.subspan(EntryBytes + nameBytes, extraBytes), { &record.bytes, &packed, &record.header }))
            return fail(Code::Malformed, fmt::format("the ZIP64 field of {} is broken", quoteName(name)));
        const bool isStored = loadLe<std::uint16_t>(raw, 10) == 0 && packed == record.bytes;
        record.isPlain = isStored && (loadLe<std::uint16_t>(raw, 8) & Encrypted) == 0;
        if (find(record.name))
            return fail(Code::Malformed, fmt::format("an archive holds {} twice", quoteName(name)));
        m_records.push_back(std::move(record));
        raw = raw.subspan(entryBytes);
    }
    if (!raw.empty())
        return fail(Code::Malformed, "the directory of an archive has more bytes than records");
    return {};
}

const ZipRecord* ZipDirectory::find(std::string_view name) const noexcept
{
    const auto found =
        std::find_if(m_records.begin(), m_records.end(), [&](const ZipRecord& record) { return record.name == name; });
    return found != m_records.end() ? &*found : nullptr;
}

Result<std::uint64_t> ZipDirectory::contentBegin(NearbyReader& reader, const ZipRecord& record) const
{
    const std::string name = quoteName(record.storedName);
    if (!record.isPlain)
        return fail(Code::Unsupported, fmt::format("{} is compressed or encrypted", name), reader.object().key);
    const std::uint64_t nameBytes = record.storedName.size();
    if (record.header > m_directory || m_directory - record.header < LocalBytes + nameBytes)
        return malformed(reader, fmt::format("{} lies outside of its archive", name));
    std::vector<std::byte> header(LocalBytes + nameBytes);
    DS_CHECK(reader.read(m_begin + record.header, header));
    if (loadLe<std::uint32_t>(header) != LocalSignature || loadLe<std::uint16_t>(header, 26) != nameBytes
        || asText(ByteSpan(header).subspan(LocalBytes)) != record.storedName)
        return malformed(reader, fmt::format("{} is not where the directory of its archive says", name));
    const std::uint64_t offset = record.header + LocalBytes + nameBytes + loadLe<std::uint16_t>(header, 28);
    if (offset > m_directory || record.bytes > m_directory - offset)
        return malformed(reader, fmt::format("{} lies outside of its archive", name));
    return m_begin + offset;
}

Result<std::vector<std::byte>> ZipDirectory::content(NearbyReader& reader, const ZipRecord& record,
                                                     std::uint64_t limitBytes) const
{
    if (record.bytes > limitBytes)
        return fail(Code::Hostile,
                    fmt::format("{} has {} bytes, more than the {} allowed", quoteName(record.storedName), record.bytes,
                                limitBytes),
                    reader.object().key);
    DS_TRY(const std::uint64_t begin, contentBegin(reader, record));
    std::vector<std::byte> bytes(record.bytes);
    DS_CHECK(reader.read(begin, bytes));
    const auto crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    if (record.crc != 0 && crc != record.crc)
        return fail(Code::Digest,
                    fmt::format("{} has CRC-32 {:08x}, its archive records {:08x}", quoteName(record.storedName), crc,
                                record.crc),
                    reader.object().key);
    return bytes;
}

} // namespace deltascope
