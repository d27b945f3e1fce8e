#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::xet {

// A xorb is a row of records, one for each chunk (draft-denis-xet, "Xorb format"): version (0), compressed length
// (u24), scheme, length (u24), data. Stored ones may have a footer, which begins with "XETBLOB".

inline constexpr std::size_t RecordHeadBytes = 8;
inline constexpr std::size_t MostXorbBytes = std::size_t { 64 } << 20; ///< serialized, and before compression
inline constexpr std::size_t MostXorbChunks = 8192;
inline constexpr std::size_t MostCompressedBytes = 262144; ///< of a chunk

enum class Scheme : std::uint8_t {
    None = 0,
    Lz4 = 1, ///< a frame of LZ4
    GroupedLz4 = 2, ///< bytes grouped by their place modulo 4 (bg4.h), then a frame of LZ4
};

/// One chunk as it stands in a xorb.
struct Record {
    Scheme scheme = Scheme::None;
    std::uint32_t bytes = 0; ///< of the chunk
    ByteSpan data;
};

/// The record at the front of `rest`, a view into it; nothing where a footer or the end is. Errors: Truncated, Hostile
/// (a length beyond the limits, or 0), Unsupported (version or scheme).
Result<std::optional<Record>> nextRecord(ByteSpan rest);

inline std::size_t serializedBytes(const Record& record) noexcept { return RecordHeadBytes + record.data.size(); }

/// Appends the bytes of a record.
void appendRecord(const Record& record, std::vector<std::byte>& xorb);

/// Decodes records; keeps its memory (below 1 MiB) for the next one. One thread.
class RecordDecoder {
public:
    RecordDecoder();
    ~RecordDecoder();
    RecordDecoder(const RecordDecoder&) = delete;
    RecordDecoder& operator=(const RecordDecoder&) = delete;

    /// `out` has the size that the record says. Errors: Hostile (the data is no frame, or one of another length), Io
    /// (no memory).
    Result<void> decode(const Record& record, MutableByteSpan out);

private:
    Result<void> decompress(ByteSpan frame, MutableByteSpan out);

    struct State;
    std::unique_ptr<State> m_state;
    std::vector<std::byte> m_grouped;
};

/// Makes records; keeps its memory (below 1 MiB) for the next one. One thread.
class RecordEncoder {
public:
    /// With `scheme`, or None if that makes it no smaller. The data lies in `chunk` or in this object, until the next
    /// call.
    Record encode(ByteSpan chunk, Scheme scheme);
    /// With the scheme that makes it smallest.
    Record encodeSmallest(ByteSpan chunk);

private:
    /// The compressed bytes at the front of `frame`; nothing if they would be no fewer than those of `bytes`.
    static std::optional<ByteSpan> compress(ByteSpan bytes, std::vector<std::byte>& frame);

    std::vector<std::byte> m_grouped;
    std::vector<std::byte> m_frame;
    std::vector<std::byte> m_otherFrame;
};

} // namespace deltascope::xet
