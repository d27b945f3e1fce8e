#pragma once

#include "format/dcp/nearby_reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// One record of an archive. Offsets count from the start of the archive.
struct ZipRecord {
    std::string name; ///< without the archive's own folder: "data.pkl" for "archive/data.pkl"
    std::string storedName;
    std::uint64_t header = 0;
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0; ///< CRC-32 of the content, as the directory records it
    bool isPlain = false; ///< neither compressed nor encrypted
};

/// The central directory of a ZIP archive that lies anywhere in an object, as torch.save writes it: records stored
/// plainly, sizes behind the data, no comment, ZIP64 where needed. docs/formats/dcp.md, section 4.
class ZipDirectory {
public:
    static constexpr std::uint64_t MaxRecords = 64;
    static constexpr std::uint64_t MaxBytes = 64U << 10;

    /// The archive is bytes [begin, begin + bytes) of the reader's object and must lie inside of it.
    /// Errors: Malformed, Hostile (a directory above the limits, a name outside of its folder), Unsupported (no ZIP
    /// archive, as torch.save wrote before 1.6), those of the reader.
    static Result<ZipDirectory> read(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes);

    const ZipRecord* find(std::string_view name) const noexcept;
    /// Where in the object the content of a record of this directory lies. Errors: Malformed, Unsupported (compressed),
    /// those of the reader.
    Result<std::uint64_t> contentBegin(NearbyReader& reader, const ZipRecord& record) const;
    /// The whole content, compared with its CRC-32 where that was computed (docs/formats/dcp.md, section 4).
    /// Errors: those of contentBegin; Hostile above `limitBytes`; Digest.
    Result<std::vector<std::byte>> content(NearbyReader& reader, const ZipRecord& record,
                                           std::uint64_t limitBytes) const;

private:
    Result<void> parse(ByteSpan directory, std::uint64_t records);

    std::vector<ZipRecord> m_records;
    std::uint64_t m_begin = 0;
    std::uint64_t m_directory = 0; ///< where the directory begins; contents end before
};

} // namespace deltascope
