#include "hash/crc.h"
#include "store/xet/merkle.h"

#include "engine/xet_fixture.h"

#include <gtest/gtest.h>
#include <regex>
#include <zlib.h>

// Cuts and hashes, against known answers of the official code.

namespace deltascope::xet {
namespace {

using namespace test;

/// What an input of vectors.json stands for.
std::string inputOf(const std::string& name, const std::string& hitPattern)
{
    std::smatch parts;
    if (name == "empty file")
        return {};
    if (name.front() == '"')
        return name.substr(1, name.size() - 2);
    if (!std::regex_match(name, parts, std::regex(R"((\w+)\((\d+)(?:,(\d+))?\))")))
        return "unknown";
    const std::uint64_t first = std::stoull(parts[2]);
    const std::size_t second = parts[3].matched ? std::stoull(parts[3]) : 0;
    if (parts[1] == "const")
        return std::string(second, static_cast<char>(first));
    if (parts[1] == "i251")
        return countedBytes(first);
    if (parts[1] == "sm64")
        return randomBytes(first, second);
    std::string bytes;
    while (bytes.size() < 65'536) {
        for (std::size_t i = 0; i < hitPattern.size(); i += 2)
            bytes += static_cast<char>(std::stoi(hitPattern.substr(i, 2), nullptr, 16));
        bytes.append(first, '\0');
    }
    bytes.resize(65'536);
    return bytes;
}

std::vector<std::uint64_t> bordersOf(const std::vector<Chunk>& chunks)
{
    std::vector<std::uint64_t> borders;
    for (const Chunk& chunk : chunks)
        borders.push_back((borders.empty() ? 0 : borders.back()) + chunk.bytes);
    return borders;
}

TEST(XetHash, HasATextOfWords)
{
    Hash hash;
    for (std::size_t i = 0; i < Hash::Size; ++i)
        hash.bytes[i] = static_cast<std::byte>(i);
    const std::string text = "07060504030201000f0e0d0c0b0a090817161514131211101f1e1d1c1b1a1918";
    EXPECT_EQ(hash.text(), text);
    EXPECT_EQ(Hash::parse(text), hash);
    EXPECT_FALSE(Hash::parse(text.substr(1)));
    EXPECT_FALSE(Hash::parse(text + "0"));
    EXPECT_FALSE(Hash::parse("G" + text.substr(1)));
    EXPECT_FALSE(Hash::parse("0A" + text.substr(2)));
    EXPECT_TRUE(Hash().isZero());
    EXPECT_FALSE(hash.isZero());
}

TEST(XetHash, IsOrderedByWords)
{
    Hash low;
    Hash high;
    low.bytes[0] = std::byte { 0xFF };
    high.bytes[7] = std::byte { 0x01 };
    EXPECT_LT(low, high);
}

TEST(XetHash, OfChunksIsThatOfTheOfficialCode)
{
    const nlohmann::json vectors = goldenJson("vectors.json")["chunks"];
    ASSERT_EQ(vectors.size(), 21U);
    for (const nlohmann::json& vector : vectors) {
        const std::string bytes = countedBytes(vector["bytes"]);
        EXPECT_EQ(chunkHash(asBytes(bytes)).text(), vector["text"]) << bytes.size();
        EXPECT_EQ(toHex(chunkHash(asBytes(bytes)).span()), vector["raw"]) << bytes.size();
    }
}

TEST(XetHash, OfFilesAndTheirCutsAreThoseOfTheOfficialCode)
{
    const nlohmann::json vectors = goldenJson("vectors.json");
    ASSERT_EQ(vectors["files"].size(), 19U);
    for (const nlohmann::json& vector : vectors["files"]) {
        const std::string name = vector["input"];
        const std::string bytes = inputOf(name, vectors["hitPattern"]);
        ASSERT_EQ(bytes.size(), vector["bytes"]) << name;
        const std::vector<Chunk> chunks = chunksOf(bytes);
        EXPECT_EQ(bordersOf(chunks), vector["borders"].get<std::vector<std::uint64_t>>()) << name;
        EXPECT_EQ(xorbHash(chunks).text(), vector["xorb"]) << name;
        EXPECT_EQ(fileHash(chunks).text(), vector["file"]) << name;
        std::vector<Hash> hashes;
        for (const Chunk& chunk : chunks)
            hashes.push_back(chunk.hash);
        if (!hashes.empty()) {
            EXPECT_EQ(verificationHash(hashes).text(), vector["verification"]) << name;
        }
    }
}

TEST(XetHash, CutsNeverLieBelowTheLeastLength)
{
    const nlohmann::json vectors = goldenJson("vectors.json");
    ASSERT_EQ(vectors["hits"].size(), 128U);
    for (const nlohmann::json& hit : vectors["hits"]) {
        const std::string bytes = inputOf("hit(" + std::to_string(hit[0].get<int>()) + ")", vectors["hitPattern"]);
        const auto borders = bordersOf(chunksOf(bytes));
        ASSERT_EQ(borders.size(), 8U) << hit;
        for (std::size_t i = 0; i + 1 < borders.size(); ++i)
            EXPECT_EQ(borders[i], hit[1].get<std::uint64_t>() + i * hit[2].get<std::uint64_t>()) << hit;
    }
}

TEST(XetHash, CutsDoNotDependOnHowMuchIsKnown)
{
    const std::string bytes = randomBytes(42, 400'000);
    const std::vector<Chunk> chunks = chunksOf(bytes);
    const auto first = static_cast<std::size_t>(chunks.front().bytes);
    for (const std::size_t known : { std::size_t { 0 }, std::size_t { 1 }, std::size_t { 8191 }, first - 1 })
        EXPECT_EQ(nextChunkBytes(asBytes(bytes).first(known), false), 0U) << known;
    EXPECT_EQ(nextChunkBytes(asBytes(bytes).first(first), false), first);
    EXPECT_EQ(nextChunkBytes(asBytes(bytes).first(first + 1), false), first);
    EXPECT_EQ(nextChunkBytes(asBytes(bytes).first(first - 1), true), first - 1);
    const std::string zeros(MostChunkBytes, '\0');
    EXPECT_EQ(nextChunkBytes(asBytes(zeros), false), MostChunkBytes);
}

TEST(XetHash, RootsOfListsAreThoseOfTheOfficialCode)
{
    const nlohmann::json vectors = goldenJson("vectors.json")["roots"];
    ASSERT_EQ(vectors.size(), 20U);
    for (const nlohmann::json& vector : vectors) {
        std::vector<Chunk> chunks;
        for (std::uint64_t i = 0; i < vector["nodes"].get<std::uint64_t>(); ++i)
            chunks.push_back({ chunkHash(std::as_bytes(std::span(&i, 1))), static_cast<std::uint32_t>(1000 + i) });
        EXPECT_EQ(xorbHash(chunks).text(), vector["root"]) << vector;
        EXPECT_EQ(fileHash(chunks).text(), vector["file"]) << vector;
    }
}

TEST(XetHash, ChecksumsOfGrantsAreThoseOfTheOfficialClient)
{
    EXPECT_EQ(crc64Nvme(asBytes("123456789")), 0xAE8B'1486'0A79'9888U); // the check value of the algorithm
    EXPECT_EQ(crc64Nvme({}), 0U);
    const std::string xorb = goldenBytes("hundred/xorb.bin");
    const std::string text = goldenBytes("hundred/grant.json");
    const nlohmann::json asked = nlohmann::json::parse(text.substr(0, text.find('\n')));
    ASSERT_EQ(asked["length"], xorb.size());
    EXPECT_EQ(std::to_string(crc64Nvme(asBytes(xorb))), asked["checksum"]["value"]);
}

TEST(XetHash, ChecksumsAreTheSameForEveryLength)
{
    const std::string bytes = randomBytes(3, 700); // beyond several rounds of the widest way
    std::uint64_t crc = ~std::uint64_t { 0 };
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        ASSERT_EQ(crc64Nvme(asBytes(bytes).first(length)), ~crc) << length;
        crc ^= static_cast<unsigned char>(bytes[length]);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0x9A6C'9329'AC4B'C9B5 : crc >> 1;
    }
}

TEST(Crc32, IsThatOfZlibForEveryLengthAndCut)
{
    const std::string bytes = randomBytes(4, 700);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const ByteSpan part = asBytes(bytes).first(length);
        const auto expected = ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), length);
        ASSERT_EQ(crc32Ieee(part), expected) << length;
        ASSERT_EQ(crc32Ieee(part.subspan(length / 3), crc32Ieee(part.first(length / 3))), expected) << length;
    }
}

} // namespace
} // namespace deltascope::xet
