#include "store/xet/bg4.h"
#include "store/xet/shard.h"
#include "store/xet/xorb_record.h"

#include "engine/xet_fixture.h"

#include <gtest/gtest.h>

// Xorbs and shards, against bytes of the official client.

namespace deltascope::xet {
namespace {

using namespace test;

std::string fromHex(std::string_view text)
{
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
    return bytes;
}

struct Decoded {
    std::vector<Chunk> chunks;
    std::vector<Scheme> schemes;
    std::vector<std::string> texts;
};

Result<Decoded> decodeAll(std::string_view xorb)
{
    ByteSpan rest = asBytes(xorb);
    RecordDecoder decoder;
    Decoded all;
    while (true) {
        DS_TRY(const std::optional<Record> record, nextRecord(rest));
        if (!record)
            return all;
        std::string text(record->bytes, '\0');
        DS_CHECK(decoder.decode(*record, std::as_writable_bytes(std::span(text))));
        all.chunks.push_back({ chunkHash(asBytes(text)), record->bytes });
        all.schemes.push_back(record->scheme);
        all.texts.push_back(std::move(text));
        rest = rest.subspan(serializedBytes(*record));
    }
}

Code codeOfRecord(std::string_view hex)
{
    const std::string bytes = fromHex(hex);
    const auto outcome = decodeAll(bytes);
    return outcome ? Code::Internal : outcome.error().code;
}

TEST(XetXorb, OfTheOfficialClientIsRead)
{
    const auto xorb = decodeAll(goldenBytes("repeat/xorb.bin"));
    ASSERT_TRUE(xorb) << xorb.error().text;
    EXPECT_EQ(xorbHash(xorb->chunks).text(), goldenJson("repeat/hashes.json")["xorb"]);
    EXPECT_EQ(xorb->chunks.size(), 27U);
    EXPECT_EQ(xorb->schemes.front(), Scheme::GroupedLz4);
    EXPECT_TRUE(repeatBytes().starts_with(xorb->texts[0] + xorb->texts[1]));
}

TEST(XetXorb, EndsAtItsFooter)
{
    const auto xorb = decodeAll(goldenBytes("stored-xorb-of-hundred.bin"));
    ASSERT_TRUE(xorb) << xorb.error().text;
    EXPECT_EQ(xorb->texts, std::vector<std::string> { hundredBytes() });
}

TEST(XetXorb, HoldsEveryScheme)
{
    const auto xorb = decodeAll(fromHex(
        "000c0000000c000048656c6c6f20576f726c6421"
        "002a00000180000004224d186040821b000000ff01000102030405060708090a0b0c0d0e0f100058500b0c0d0e0f00000000"
        "004000000280000004224d18604082310000001f0001002cff128084888c9094989ca0a4a8acb0b4b8bcc0c4c8ccd0d4d8dce0e4e8ecf0"
        "f4f8fc3f010007503f3f3f3f3f00000000"));
    ASSERT_TRUE(xorb) << xorb.error().text;
    EXPECT_EQ(xorb->schemes, (std::vector { Scheme::None, Scheme::Lz4, Scheme::GroupedLz4 }));
    EXPECT_EQ(xorb->chunks[1].hash.text(), "c65d7f69d2068c44db9ca1a23a138d14b8b3eee445aba41b0ea605934c983911");
    EXPECT_EQ(xorb->chunks[2].hash.text(), "bf83978b201419df12eaf398e8d1220e013d2f5b58010bcf695c2d3bbb7e2740");
    EXPECT_EQ(xorbHash(xorb->chunks).text(), "7913a2e3791f2782fe236e98e8ff85856f670028ddd9e3c9e41d42dfc9f6d852");
}

TEST(XetXorb, BeyondTheRulesIsRefused)
{
    EXPECT_EQ(codeOfRecord("000c0000000c0000"), Code::Truncated); // without its data
    EXPECT_EQ(codeOfRecord("000c00"), Code::Truncated);
    EXPECT_EQ(codeOfRecord("010100000001000041"), Code::Unsupported); // version
    EXPECT_EQ(codeOfRecord("000100000301000041"), Code::Unsupported); // scheme
    EXPECT_EQ(codeOfRecord("0000000000000000"), Code::Hostile); // no bytes
    EXPECT_EQ(codeOfRecord("000100000102000041"), Code::Hostile); // no frame
    EXPECT_EQ(codeOfRecord("000100000002000041"), Code::Hostile); // not compressed, yet of another length
    EXPECT_EQ(codeOfRecord("000100000101000241"), Code::Hostile); // 131073 bytes
    EXPECT_EQ(codeOfRecord("000100040101000041"), Code::Hostile); // 262145 compressed
    const std::string frame = "04224d186040821b000000ff01000102030405060708090a0b0c0d0e0f100058500b0c0d0e0f00000000";
    EXPECT_EQ(codeOfRecord("002a0000017f0000" + frame), Code::Hostile); // holds 128 bytes, not 127
    EXPECT_EQ(codeOfRecord("002a000001810000" + frame), Code::Hostile); // nor 129
    EXPECT_EQ(codeOfRecord("002b000001800000" + frame + "00"), Code::Hostile); // and nothing behind
    EXPECT_EQ(codeOfRecord("0026000001800000" + frame.substr(0, 76)), Code::Hostile); // and its end
}

TEST(XetXorb, GroupsBytes)
{
    const std::vector<std::pair<std::string, std::string>> cases = { { "00010203", "00010203" },
                                                                     { "0001020304", "0004010203" },
                                                                     { "000102030405", "000401050203" },
                                                                     { "00010203040506", "00040105020603" },
                                                                     { "000102030405060708090a",
                                                                       "00040801050902060a0307" } };
    for (const auto& [plain, grouped] : cases) {
        const std::string bytes = fromHex(plain);
        std::string out(bytes.size(), '\0');
        groupBytes(asBytes(bytes), std::as_writable_bytes(std::span(out)));
        EXPECT_EQ(toHex(asBytes(out)), grouped);
        std::string back(bytes.size(), '\0');
        ungroupBytes(asBytes(out), std::as_writable_bytes(std::span(back)));
        EXPECT_EQ(back, bytes);
    }
}

TEST(XetXorb, RecordsAreAsSmallAsTheirBestScheme)
{
    RecordEncoder encoder;
    const std::string text = std::string(20'000, 'x') + randomBytes(1, 100);
    const std::string numbers = gapBytes(3, 8192);
    const std::string noise = randomBytes(2, 40'000);
    for (const auto& [bytes, scheme] :
         { std::pair(text, Scheme::Lz4), std::pair(numbers, Scheme::GroupedLz4), std::pair(noise, Scheme::None) }) {
        const Record record = encoder.encodeSmallest(asBytes(bytes));
        EXPECT_EQ(record.scheme, scheme);
        std::vector<std::byte> xorb;
        appendRecord(record, xorb);
        const auto back = decodeAll(asText(xorb));
        ASSERT_TRUE(back) << back.error().text;
        EXPECT_EQ(back->texts, std::vector { bytes });
    }
    EXPECT_EQ(encoder.encode(asBytes(noise), Scheme::GroupedLz4).scheme, Scheme::None);
}

TEST(XetShard, IsThatOfTheOfficialClient)
{
    for (const char* const name : { "empty", "hundred", "repeat" }) {
        const std::string bytes = goldenBytes(std::string(name) + "/shard.bin");
        auto shard = readShard(asBytes(bytes));
        ASSERT_TRUE(shard) << name << shard.error().text;
        ASSERT_EQ(shard->files.size(), 1U) << name;
        EXPECT_EQ(shard->files[0].hash.text(), goldenJson(std::string(name) + "/hashes.json")["files"].front());
        EXPECT_EQ(writeShard(std::move(*shard)), bytes) << name;
    }
    const auto repeat = readShard(asBytes(goldenBytes("repeat/shard.bin")));
    ASSERT_TRUE(repeat);
    EXPECT_EQ(repeat->files[0].terms.size(), 3U);
    EXPECT_EQ(repeat->files[0].terms[1].first, 4U);
    EXPECT_EQ(repeat->xorbs[0].chunks.size(), 27U);
    EXPECT_EQ(xorbHash(repeat->xorbs[0].chunks), repeat->xorbs[0].hash);
}

TEST(XetShard, MayHaveAFooter)
{
    const auto shard = readShard(asBytes(goldenBytes("dedup-shard-of-hundred.bin")));
    ASSERT_TRUE(shard) << shard.error().text;
    ASSERT_EQ(shard->xorbs.size(), 1U);
    EXPECT_EQ(shard->xorbs[0].chunks, chunksOf(hundredBytes()));
}

TEST(XetShard, BeyondTheRulesIsRefused)
{
    const std::string whole = goldenBytes("hundred/shard.bin");
    const auto codeOf = [](std::string_view bytes) {
        const auto shard = readShard(asBytes(bytes));
        return shard ? Code::Internal : shard.error().code;
    };
    const auto changed = [&whole](std::size_t at, std::uint8_t to) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(to);
        return bytes;
    };
    for (std::size_t rows = 0; rows < whole.size() / ShardRowBytes; ++rows)
        EXPECT_NE(codeOf(whole.substr(0, rows * ShardRowBytes)), Code::Internal) << rows;
    EXPECT_EQ(codeOf(changed(0, 0)), Code::Hostile); // tag
    EXPECT_EQ(codeOf(changed(32, 3)), Code::Hostile); // version
    EXPECT_EQ(codeOf(changed(ShardRowBytes + 39, 0xFF)), Code::Hostile); // terms: more than rows
    EXPECT_EQ(codeOf(changed(2 * ShardRowBytes + 44, 0)), Code::Hostile); // a term without chunks
    EXPECT_EQ(codeOf(changed(5 * ShardRowBytes + 39, 0xFF)), Code::Hostile); // chunks: more than rows
    EXPECT_EQ(codeOf(changed(5 * ShardRowBytes + 40, 99)), Code::Hostile); // bytes of the xorb
    EXPECT_EQ(codeOf(changed(6 * ShardRowBytes + 32, 1)), Code::Hostile); // where its chunk begins
}

} // namespace
} // namespace deltascope::xet
