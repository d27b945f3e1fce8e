#include "hash/crc.h"
#include "store/s3/body_digests.h"
#include "store/s3/read_ledger.h"

#include "support/any_task.h"

#include <gtest/gtest.h>
#include <thread>

// CRC-64/NVME, and what reads prove. Expected values: a bit-by-bit CRC, zlib and hashlib in Python.

namespace deltascope::s3 {
namespace {

std::string longText()
{
    std::string text;
    for (int i = 0; i < 5; ++i) {
        for (int byte = 0; byte < 256; ++byte)
            text += static_cast<char>(byte);
    }
    return text + "xyz";
}

constexpr std::string_view Ten = "0123456789";
constexpr std::string_view TenCrc64 = "Ffmx7kz9nB0=";
constexpr std::string_view TenCrc32 = "poTHxg==";
constexpr std::string_view TenSha256 = "hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=";

WholeChecksums told(std::string name, std::string_view value, std::string type = "FULL_OBJECT")
{
    return checksumsOf({ { std::move(name), std::string(value) }, { "x-amz-checksum-type", std::move(type) } });
}

const ObjectInfo Object { "key", 10, "e1", 0, false };

ByteSpan ten(std::size_t offset, std::size_t bytes) { return asBytes(Ten.substr(offset, bytes)); }

TEST(S3Crc64, MatchesTheReference)
{
    EXPECT_EQ(crc64Nvme({}), 0U);
    EXPECT_EQ(crc64Nvme(asBytes("123456789")), 0xae8b14860a799888U); // the check value of the specification
    EXPECT_EQ(crc64Nvme(asBytes(longText())), 0x77402e523839931cU);
    EXPECT_EQ(crc64Text(crc64Nvme(asBytes("data"))), "7a5hQ478J4A=");
}

TEST(S3Crc64, PiecesGiveTheWholeInAnyCut)
{
    const std::string text = longText();
    const std::uint64_t whole = crc64Nvme(asBytes(text));
    for (std::size_t cut = 0; cut <= text.size(); cut += 37) {
        const ByteSpan front = asBytes(text).first(cut);
        const ByteSpan back = asBytes(text).subspan(cut);
        EXPECT_EQ(crc64Nvme(back, crc64Nvme(front)), whole) << cut;
        EXPECT_EQ(combineCrc64Nvme(crc64Nvme(front), crc64Nvme(back), back.size()), whole) << cut;
        if (cut > 0) {
            EXPECT_NE(combineCrc64Nvme(crc64Nvme(front), crc64Nvme(back), back.size() + 1), whole) << cut;
        }
    }
}

TEST(S3BodyDigests, AreThoseOfPython)
{
    const MemoryPayload body(asBytes("data"));
    const Result<BodyDigests> digests = digestBody(body, true, "key", test::anyTask());
    ASSERT_TRUE(digests);
    EXPECT_EQ(digests->md5Text(), "jXd/OF09/siBXSD3SWAm3A==");
    EXPECT_EQ(digests->crc64Text(), "7a5hQ478J4A=");
    EXPECT_EQ(digests->sha256Text(), "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7");
    const PayloadSlice slice(body, 1, 2);
    std::string two(8, '?');
    EXPECT_EQ(slice.read(0, std::as_writable_bytes(std::span(two))), std::size_t { 2 });
    EXPECT_EQ(two.substr(0, 2), "at");
    EXPECT_EQ(slice.read(2, std::as_writable_bytes(std::span(two))), std::size_t { 0 });
}

TEST(S3Checksums, OnlyThoseOfWholeObjectsCount)
{
    EXPECT_TRUE(told("x-amz-checksum-crc64nvme", TenCrc64).crc64);
    EXPECT_TRUE(told("x-amz-checksum-crc32", TenCrc32).crc32);
    EXPECT_EQ(told("x-amz-checksum-sha256", TenSha256).sha256, TenSha256);
    EXPECT_FALSE(told("x-amz-checksum-crc64nvme", TenCrc64, "COMPOSITE").hasAny());
    EXPECT_FALSE(told("x-amz-checksum-crc32", std::string(TenCrc32) + "-3").hasAny());
    EXPECT_FALSE(told("x-amz-checksum-crc32", TenCrc64).hasAny()); // of another length
    EXPECT_FALSE(told("x-amz-checksum-sha256", "AAAA").hasAny());
    EXPECT_FALSE(checksumsOf({}).hasAny());
}

TEST(S3ReadLedger, AllBytesInAnyOrderAreProof)
{
    for (const WholeChecksums& checksums :
         { told("x-amz-checksum-crc64nvme", TenCrc64), told("x-amz-checksum-crc32", TenCrc32) }) {
        ReadLedger ledger;
        EXPECT_EQ(ledger.proofOf(Object), ReadProof::Partial);
        for (const auto& [offset, bytes] : { std::pair(7, 3), std::pair(0, 2), std::pair(1, 4), std::pair(1, 4) }) {
            EXPECT_EQ(ledger.add(Object, 10, offset, ten(offset, bytes), checksums), false);
            EXPECT_EQ(ledger.proofOf(Object), ReadProof::Partial);
        }
        EXPECT_EQ(ledger.add(Object, 10, 3, ten(3, 6), checksums), false); // overlaps on both sides
        EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);
        EXPECT_EQ(ledger.proofOf(ObjectInfo { "key", 10, "e2", 0, false }), ReadProof::Partial);
    }
}

TEST(S3ReadLedger, OneFlippedBitAnywhereIsFound)
{
    const WholeChecksums checksums = told("x-amz-checksum-crc64nvme", TenCrc64);
    for (std::size_t flipped = 0; flipped < 80; ++flipped) {
        std::string bytes(Ten);
        bytes[flipped / 8] = static_cast<char>(bytes[flipped / 8] ^ (1 << (flipped % 8)));
        ReadLedger ledger;
        ASSERT_TRUE(ledger.add(Object, 10, 0, asBytes(bytes).first(4), checksums));
        const Result<bool> last = ledger.add(Object, 10, 4, asBytes(bytes).subspan(4), checksums);
        ASSERT_FALSE(last) << flipped;
        EXPECT_EQ(last.error().code, Code::Digest);
        EXPECT_EQ(last.error().where, "key");
        EXPECT_EQ(ledger.proofOf(Object), ReadProof::Partial); // read again, it can be proven
        ASSERT_TRUE(ledger.add(Object, 10, 0, asBytes(Ten), checksums));
        EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);
    }
}

TEST(S3ReadLedger, AsksForAChecksumOnceAllIsThere)
{
    ReadLedger ledger;
    EXPECT_EQ(ledger.add(Object, 10, 0, ten(0, 9), {}), false);
    EXPECT_EQ(ledger.add(Object, 10, 9, ten(9, 1), {}), true);
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Partial);
    EXPECT_TRUE(ledger.learn(Object, told("x-amz-checksum-crc32", TenCrc32)));
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);

    ReadLedger other;
    EXPECT_EQ(other.add(Object, 10, 0, ten(0, 10), {}), true);
    EXPECT_FALSE(other.learn(Object, told("x-amz-checksum-crc32", "AAAAAA==")));

    ReadLedger without;
    EXPECT_EQ(without.add(Object, 10, 0, ten(0, 10), {}), true);
    EXPECT_TRUE(without.learn(Object, {}));
    EXPECT_EQ(without.proofOf(Object), ReadProof::None);
    EXPECT_EQ(without.add(Object, 10, 0, ten(0, 10), {}), false); // is not asked again
}

TEST(S3ReadLedger, Sha256CountsForOneReadOfTheWhole)
{
    ReadLedger ledger;
    EXPECT_TRUE(ledger.add(Object, 10, 0, ten(0, 10), told("x-amz-checksum-sha256", TenSha256)));
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);
    ReadLedger parts;
    EXPECT_TRUE(parts.add(Object, 10, 0, ten(0, 5), told("x-amz-checksum-sha256", TenSha256)));
    EXPECT_TRUE(parts.add(Object, 10, 5, ten(5, 5), told("x-amz-checksum-sha256", TenSha256)));
    EXPECT_NE(parts.proofOf(Object), ReadProof::Proven);
    ReadLedger wrong;
    const Result<bool> flipped =
        wrong.add(Object, 10, 0, asBytes("0123456788"), told("x-amz-checksum-sha256", TenSha256));
    ASSERT_FALSE(flipped);
    EXPECT_EQ(flipped.error().code, Code::Digest);
}

TEST(S3ReadLedger, MorePiecesThanItKeepsDelayTheProof)
{
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += longText();
    const WholeChecksums checksums = told("x-amz-checksum-crc64nvme", crc64Text(crc64Nvme(asBytes(text))));
    ReadLedger ledger;
    for (std::size_t round = 0; round < 3; ++round) {
        for (std::size_t at = 0; at < text.size(); at += 2)
            EXPECT_EQ(ledger.add(Object, text.size(), at, asBytes(text).subspan(at, 1), checksums), false);
    }
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Partial);
    EXPECT_EQ(ledger.add(Object, text.size(), 0, asBytes(text), checksums), false);
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);
}

TEST(S3ReadLedger, ForgetsTheOldestObjects)
{
    ReadLedger ledger(2);
    for (const char* identity : { "e1", "e2", "e3" })
        EXPECT_TRUE(ledger.add(ObjectInfo { "key", 10, identity, 0, false }, 10, 0, ten(0, 5), {}));
    EXPECT_EQ(ledger.proofOf(ObjectInfo { "key", 10, "e1", 0, false }), ReadProof::Partial);
    EXPECT_EQ(ledger.proofOf(ObjectInfo { "key", 10, "e3", 0, false }), ReadProof::Partial);
}

TEST(S3ReadLedger, ManyThreadsProveOneObject)
{
    const std::string text = longText();
    WholeChecksums checksums;
    checksums.crc64 = 0x77402e523839931cU;
    ReadLedger ledger;
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < 8; ++first) {
        threads.emplace_back([&, first] {
            for (std::size_t at = first * 16; at < text.size(); at += 128) {
                const std::string_view piece = std::string_view(text).substr(at, 24); // overlaps the next one
                EXPECT_TRUE(ledger.add(Object, text.size(), at, asBytes(piece), checksums));
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    // What two threads counted at once may be missing; one more look fills it.
    EXPECT_TRUE(ledger.add(Object, text.size(), 0, asBytes(text), checksums));
    EXPECT_EQ(ledger.proofOf(Object), ReadProof::Proven);
}

} // namespace
} // namespace deltascope::s3
