// A range of a xorb as a server sends it, and a shard. Input: number of chunks that the store claims (1 byte), which of
// them a file uses (1 byte each: first and end), and the bytes. Seeds: tests/fuzz/seeds/xet_xorb.

#include "store/xet/chunker.h"
#include "store/xet/piece_decode.h"
#include "store/xet/shard.h"
#include "store/xet/xorb_record.h"

#include "patch_checks.h"
#include "support/any_task.h"

using namespace deltascope;
using namespace deltascope::xet;

namespace {

/// Raw bytes of the records that there are.
std::uint32_t rawBytes(ByteSpan body, std::uint32_t first, std::uint32_t end)
{
    std::uint32_t bytes = 0;
    for (std::uint32_t i = 0; i < end; ++i) {
        const auto record = nextRecord(body);
        if (!record)
            checkRefusal(record.error());
        if (!record || !*record)
            return 0;
        require((*record)->bytes > 0 && (*record)->bytes <= MostChunkBytes
                && (*record)->data.size() <= MostCompressedBytes);
        require(serializedBytes(**record) <= body.size());
        body = body.subspan(serializedBytes(**record));
        if (i >= first)
            bytes += (*record)->bytes;
    }
    return bytes;
}

void checkShard(ByteSpan bytes)
{
    const auto shard = readShard(bytes);
    if (!shard) {
        checkRefusal(shard.error());
        return;
    }
    const std::string again = writeShard(*shard);
    require(again.size() % ShardRowBytes == 0);
    require(readShard(asBytes(again)).has_value());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 3)
        return 0;
    const ByteSpan body = std::as_bytes(std::span(data, size)).subspan(3);
    checkShard(body);
    const std::uint32_t count = std::max<std::uint32_t>(data[0], 1);
    const std::uint32_t first = data[1] % count;
    const std::uint32_t end = first + 1 + data[2] % (count - first);
    const std::uint32_t bytes = rawBytes(body, first, end);
    PieceFetch fetch { { {}, 0, count, {}, 0, body.size() }, {} };
    fetch.terms.push_back({ { {}, first, end, bytes }, 100 });
    fetch.terms.push_back({ { {}, first, end, bytes }, std::uint64_t { 100 } + bytes });
    std::vector<std::byte> out(std::size_t { 2 } * bytes + 1);
    const std::vector<WantedBytes> parts = { { 100, MutableByteSpan(out).first(out.size() / 2), 0 },
                                             { 101 + out.size() / 2, MutableByteSpan(out).subspan(out.size() / 2),
                                               1 } };
    const auto chunks = decodePiece(fetch, body, parts, test::anyTask());
    if (!chunks) {
        checkRefusal(chunks.error());
        return 0;
    }
    require(chunks->size() == 2 * (end - first));
    for (std::size_t i = 0; i < chunks->size(); i += 2)
        require((*chunks)[i].chunk == (*chunks)[i + 1].chunk && (*chunks)[i].offset + bytes == (*chunks)[i + 1].offset);
    return 0;
}
