#include "format/common/zstd_stream.h"

#include "support/any_task.h"
#include "support/memory_store.h"

#include <gtest/gtest.h>
#include <zstd.h>

// Frames one after the other in one thread, whose decompressors are used again.

namespace deltascope {
namespace {

using test::anyTask;

class ZstdStreamTest : public testing::Test {
protected:
    static std::string frameOf(const std::string& content)
    {
        std::string frame(ZSTD_compressBound(content.size()), '\0');
        frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1));
        return frame;
    }
    /// Text that compresses badly, another one for each seed.
    static std::string text(std::size_t bytes, unsigned seed)
    {
        std::string out;
        for (std::size_t i = 0; i < bytes; ++i)
            out += static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
        return out;
    }
    ZstdStream streamOf(const std::string& frame)
    {
        EXPECT_TRUE(putText(*store, "frame", frame));
        return ZstdStream(BufferedExtent(*store, "frame", 0, frame.size(), 4'096, anyTask()), "w");
    }
    static std::string readFrom(ZstdStream& stream, std::size_t bytes)
    {
        std::vector<std::byte> out(bytes);
        const Result<void> read = stream.read(out);
        return read ? std::string(asText(out)) : std::string(word(read.error().code));
    }
    /// All of a frame that has to be sound.
    std::string contentOf(const std::string& frame, std::size_t bytes)
    {
        ZstdStream stream = streamOf(frame);
        std::string content = readFrom(stream, bytes);
        EXPECT_TRUE(stream.expectEnd());
        return content;
    }

    std::shared_ptr<test::MemoryStore> store = std::make_shared<test::MemoryStore>();
};

TEST_F(ZstdStreamTest, FramesInARowAreWhatTheyWere)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const std::string content = text(1 + seed * 9'999, seed);
        EXPECT_EQ(contentOf(frameOf(content), content.size()), content) << seed;
    }
}

TEST_F(ZstdStreamTest, AFrameBehindADamagedOneIsSound)
{
    const std::string content = text(50'000, 1);
    std::string damaged = frameOf(content);
    damaged[damaged.size() / 2] ^= 1;
    damaged.resize(damaged.size() - 7);
    for (int i = 0; i < 10; ++i) {
        {
            ZstdStream stream = streamOf(damaged);
            static_cast<void>(readFrom(stream, content.size()));
            EXPECT_FALSE(stream.expectEnd());
        }
        EXPECT_EQ(contentOf(frameOf(content), content.size()), content);
    }
}

TEST_F(ZstdStreamTest, AFrameBehindOneThatWasLeftIsSound)
{
    const std::string first = text(300'000, 2);
    const std::string second = text(300'000, 3);
    for (int i = 0; i < 10; ++i) {
        {
            ZstdStream left = streamOf(frameOf(first));
            EXPECT_EQ(readFrom(left, 1'000), first.substr(0, 1'000));
        }
        EXPECT_EQ(contentOf(frameOf(second), second.size()), second);
    }
}

TEST_F(ZstdStreamTest, ManyFramesAreReadBesideEachOther)
{
    std::vector<std::string> contents;
    std::vector<ZstdStream> streams;
    for (int round = 0; round < 2; ++round) { // the second time some decompressors are used again
        contents.clear();
        streams.clear();
        for (unsigned i = 0; i < 10; ++i) {
            contents.push_back(text(200'000, i + 100 * static_cast<unsigned>(round)));
            const std::string key = "frame" + std::to_string(i);
            const std::string frame = frameOf(contents.back());
            EXPECT_TRUE(putText(*store, key, frame));
            streams.emplace_back(BufferedExtent(*store, key, 0, frame.size(), 4'096, anyTask()), "w");
        }
        for (std::size_t at = 0; at < 200'000; at += 50'000) {
            for (std::size_t i = 0; i < streams.size(); ++i)
                EXPECT_EQ(readFrom(streams[i], 50'000), contents[i].substr(at, 50'000));
        }
    }
}

} // namespace
} // namespace deltascope
