#include "store/xet/piece_decode.h"

#include "store/xet/chunker.h"
#include "store/xet/xorb_record.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::xet {

namespace {

/// Which chunk of the piece goes where in the file.
struct Placement {
    std::uint32_t index = 0; ///< among the records of the piece
    std::uint64_t offset = 0;
};

Result<std::vector<Record>> recordsOf(const Piece& piece, ByteSpan body)
{
    std::vector<Record> records;
    records.reserve(piece.end - piece.first);
    while (records.size() < piece.end - piece.first) {
        DS_TRY(const std::optional<Record> record, nextRecord(body));
        if (!record)
            return fail(Code::Truncated, "a range of a xorb holds fewer chunks than the store says", piece.xorb.text());
        body = body.subspan(serializedBytes(*record));
        records.push_back(*record);
    }
    return records;
}

Result<std::vector<Placement>> placementsOf(const PieceFetch& fetch, const std::vector<Record>& records)
{
    std::vector<Placement> placements;
    for (const PlacedTerm& placed : fetch.terms) {
        std::uint64_t offset = placed.offset;
        for (std::uint32_t chunk = placed.term.first; chunk < placed.term.end; ++chunk) {
            const std::uint32_t index = chunk - fetch.piece.first;
            placements.push_back({ index, offset });
            offset += records[index].bytes;
        }
        if (offset - placed.offset != placed.term.bytes)
            return fail(Code::Hostile,
                        fmt::format("chunks of a xorb hold {} bytes where the store says {}", offset - placed.offset,
                                    placed.term.bytes),
                        fetch.piece.xorb.text());
    }
    std::stable_sort(placements.begin(), placements.end(),
                     [](const Placement& a, const Placement& b) { return a.index < b.index; });
    return placements;
}

/// The place in `parts` that a chunk fills without help; empty if it is wanted in part, several times or not at all.
MutableByteSpan directPlace(const std::vector<WantedBytes>& parts, std::uint64_t offset, std::uint32_t bytes)
{
    MutableByteSpan place;
    for (const WantedBytes& part : parts) {
        if (part.offset >= offset + bytes || part.end() <= offset)
            continue;
        if (!place.empty() || part.offset > offset || part.end() < offset + bytes)
            return {};
        place = part.out.subspan(offset - part.offset, bytes);
    }
    return place;
}

void copyWanted(ByteSpan chunk, std::uint64_t offset, const std::vector<WantedBytes>& parts)
{
    for (const WantedBytes& part : parts) {
        const std::uint64_t begin = std::max(part.offset, offset);
        const std::uint64_t end = std::min<std::uint64_t>(part.end(), offset + chunk.size());
        if (begin < end)
            std::copy_n(chunk.data() + (begin - offset), end - begin, part.out.data() + (begin - part.offset));
    }
}

}

Result<std::vector<PlacedChunk>> decodePiece(const PieceFetch& fetch, ByteSpan body,
                                             const std::vector<WantedBytes>& parts, TaskContext& task)
{
    constexpr std::size_t ChunksPerLook = 64;
    DS_TRY(const std::vector<Record> records, recordsOf(fetch.piece, body));
    DS_TRY(const std::vector<Placement> placements, placementsOf(fetch, records));
    RecordDecoder decoder;
    std::vector<std::byte> room(MostChunkBytes);
    std::vector<PlacedChunk> chunks;
    chunks.reserve(placements.size());
    ByteSpan chunk; // the last one
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const Placement& placement = placements[i];
        if (i % ChunksPerLook == 0)
            DS_CHECK(task.checkpoint());
        if (i > 0 && placement.index == placements[i - 1].index) {
            copyWanted(chunk, placement.offset, parts);
            chunks.push_back({ placement.offset, chunks.back().chunk });
            continue;
        }
        const Record& record = records[placement.index];
        const MutableByteSpan direct = directPlace(parts, placement.offset, record.bytes);
        const MutableByteSpan out = direct.empty() ? MutableByteSpan(room).first(record.bytes) : direct;
        if (const auto outcome = decoder.decode(record, out); !outcome)
            return fail(outcome.error().code, outcome.error().text, fetch.piece.xorb.text());
        chunk = out;
        if (direct.empty())
            copyWanted(chunk, placement.offset, parts);
        chunks.push_back({ placement.offset, { chunkHash(chunk), record.bytes } });
    }
    return chunks;
}

} // namespace deltascope::xet
