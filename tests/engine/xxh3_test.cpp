#include "hash/hashers.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gtest/gtest.h>
#include <random>
#include <vector>

// The code that the library picks for this processor, bit for bit against what any processor runs.

namespace deltascope {
namespace {

Digest128 plain(ByteSpan bytes)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
    Digest128 out;
    std::memcpy(out.data(), canonical.digest, out.size());
    return out;
}

std::vector<std::byte> randomBytes(std::size_t count)
{
    std::mt19937_64 random(count);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    return bytes;
}

TEST(Xxh3, IsTheSameAtOnceForEachLength)
{
    const std::vector<std::byte> bytes = randomBytes(5000);
    for (std::size_t count = 0; count <= bytes.size(); ++count)
        ASSERT_EQ(xxh3(ByteSpan(bytes).first(count)), plain(ByteSpan(bytes).first(count))) << count;
}

TEST(Xxh3, IsTheSameInPieces)
{
    const std::vector<std::byte> bytes = randomBytes(300'000);
    std::mt19937_64 random(7);
    Xxh3Hasher hasher;
    for (int i = 0; i < 200; ++i) {
        const std::size_t begin = random() % 64; // where vectors are not aligned
        const ByteSpan whole = ByteSpan(bytes).subspan(begin, random() % (bytes.size() - begin));
        const std::size_t most = std::size_t { 1 } << (random() % 18);
        hasher.reset();
        for (ByteSpan left = whole; !left.empty();) {
            const std::size_t count = std::min<std::size_t>(left.size(), random() % most + 1);
            hasher.update(left.first(count));
            left = left.subspan(count);
        }
        ASSERT_EQ(hasher.digest(), plain(whole)) << i;
    }
}

} // namespace
} // namespace deltascope
