#include "store/xet/hash.h"

#include "store/xet/keyed_hash.h"
#include "store/xet/merkle.h"

#include <blake3.h>
#include <fmt/format.h>

namespace deltascope::xet {

namespace {

Hash keyedHashUnguarded(const HashKey& key, ByteSpan bytes) noexcept
{
    blake3_hasher hasher;
    blake3_hasher_init_keyed(&hasher, key.data());
    blake3_hasher_update(&hasher, bytes.data(), bytes.size());
    Hash hash;
    blake3_hasher_finalize(&hasher, reinterpret_cast<std::uint8_t*>(hash.bytes.data()), Hash::Size);
    return hash;
}

std::optional<unsigned> digitOf(char c) noexcept
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return std::nullopt;
}

}

Hash keyedHash(const HashKey& key, ByteSpan bytes) noexcept
{
    // The library looks at the processor when it first hashes and keeps what it finds without a lock.
    [[maybe_unused]] static const Hash first = keyedHashUnguarded(FileKey, {});
    return keyedHashUnguarded(key, bytes);
}

std::string Hash::text() const
{
    return fmt::format("{:016x}{:016x}{:016x}{:016x}", word(0), word(1), word(2), word(3));
}

std::optional<Hash> Hash::parse(std::string_view text) noexcept
{
    constexpr std::size_t DigitsPerWord = 16;
    if (text.size() != Size * 2)
        return std::nullopt;
    Hash hash;
    for (std::size_t place = 0; place < Size / sizeof(std::uint64_t); ++place) {
        std::uint64_t word = 0;
        for (const char c : text.substr(place * DigitsPerWord, DigitsPerWord)) {
            const auto digit = digitOf(c);
            if (!digit)
                return std::nullopt;
            word = word << 4 | *digit;
        }
        storeLe(hash.bytes, place * sizeof word, word);
    }
    return hash;
}

std::strong_ordering Hash::operator<=>(const Hash& other) const noexcept
{
    for (std::size_t place = 0; place < Size / sizeof(std::uint64_t); ++place) {
        if (const auto order = word(place) <=> other.word(place); order != 0)
            return order;
    }
    return std::strong_ordering::equal;
}

Hash chunkHash(ByteSpan bytes) noexcept { return keyedHash(ChunkKey, bytes); }

Hash verificationHash(std::span<const Hash> chunks) noexcept
{
    static_assert(sizeof(Hash) == Hash::Size, "hashes in a row are their bytes in a row");
    return keyedHash(VerificationKey, std::as_bytes(chunks));
}

Hash xorbHash(std::span<const Chunk> chunks)
{
    MerkleRoot root;
    for (const Chunk& chunk : chunks)
        root.add(chunk.hash, chunk.bytes);
    return root.finish();
}

Hash fileHash(std::span<const Chunk> chunks) { return chunks.empty() ? Hash {} : fileHashOfRoot(xorbHash(chunks)); }

} // namespace deltascope::xet
