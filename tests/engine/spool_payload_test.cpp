#include "format/common/spool_file.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace deltascope {
namespace {

struct Spooled {
    std::unique_ptr<SpoolFile> file = std::move(*SpoolFile::create({}));

    std::vector<SpoolRange> append(const std::string& bytes)
    {
        const Result<SpoolRange> range = file->append(asBytes(bytes));
        EXPECT_TRUE(range);
        return { *range };
    }
};

std::string readAll(const Payload& payload, std::size_t step)
{
    std::string out;
    std::string piece(step, ' ');
    for (;;) {
        const Result<std::size_t> got = payload.read(out.size(), std::as_writable_bytes(std::span(piece)));
        EXPECT_TRUE(got);
        if (!got || *got == 0)
            return out;
        out.append(piece, 0, *got);
    }
}

TEST(SpoolPayload, GivesTextThenRangesThenWidenedOnesFromAnyOffset)
{
    Spooled spool;
    std::mt19937 random(1);
    std::string plain(70'001, '\0');
    std::string narrow(300'002, '\0'); // more than is widened at once
    for (char& c : plain)
        c = static_cast<char>(random());
    for (char& c : narrow)
        c = static_cast<char>(random());
    std::string expected = "header";
    SpoolPayload payload(*spool.file, expected);
    payload.add(spool.append(plain));
    payload.addWidened(spool.append(narrow));
    payload.add(spool.append(""));
    payload.add(spool.append("end"));
    expected += plain;
    for (std::size_t i = 0; i < narrow.size(); i += 2)
        expected += narrow.substr(i, 2) + std::string(2, '\0');
    expected += "end";

    ASSERT_EQ(payload.sizeBytes(), expected.size());
    EXPECT_TRUE(readAll(payload, 1 << 20) == expected);
    EXPECT_TRUE(readAll(payload, 4'099) == expected);
    std::uniform_int_distribution<std::size_t> anywhere(0, expected.size());
    for (int i = 0; i < 500; ++i) {
        const std::size_t offset = anywhere(random);
        const std::size_t bytes = std::min<std::size_t>(anywhere(random) % 9'000, expected.size() - offset);
        std::string out(bytes, ' ');
        const Result<std::size_t> got = payload.read(offset, std::as_writable_bytes(std::span(out)));
        ASSERT_TRUE(got);
        ASSERT_EQ(*got, bytes) << offset;
        ASSERT_TRUE(out == expected.substr(offset, bytes)) << offset << " " << bytes;
    }
}

TEST(SpoolPayload, EndsBehindItsLastByte)
{
    Spooled spool;
    SpoolPayload payload(*spool.file, "text");
    std::byte out[4];
    EXPECT_EQ(payload.read(2, out), std::size_t { 2 });
    EXPECT_EQ(payload.read(4, out), std::size_t { 0 });
    EXPECT_EQ(payload.read(400, out), std::size_t { 0 });
}

} // namespace
} // namespace deltascope
