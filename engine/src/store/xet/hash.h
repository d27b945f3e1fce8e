#pragma once

#include "deltascope/base/bytes.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace deltascope::xet {

// Hashes as the Xet protocol defines them (hub-docs, "Xet protocol specification": hashing; draft-denis-xet).

/// Of a chunk, a xorb or a file. A value.
struct Hash {
    static constexpr std::size_t Size = 32;

    std::array<std::byte, Size> bytes {};

    /// The file hash of no bytes.
    bool isZero() const noexcept { return *this == Hash {}; }
    /// As it stands in URLs and JSON: each group of eight bytes is a little-endian word, written as 16 hex digits.
    std::string text() const;
    /// The inverse of text(), in lower case only; nothing for anything else.
    static std::optional<Hash> parse(std::string_view text) noexcept;

    /// Little-endian word 0…3.
    std::uint64_t word(std::size_t place) const noexcept { return loadLe<std::uint64_t>(bytes, place * 8); }
    ByteSpan span() const noexcept { return bytes; }

    bool operator==(const Hash&) const = default;
    /// The order of shards: word by word.
    std::strong_ordering operator<=>(const Hash& other) const noexcept;
};

/// For unordered containers. The bytes are a digest already.
struct HashOfHash {
    std::size_t operator()(const Hash& hash) const noexcept { return hash.word(0) ^ hash.word(2); }
};

/// One chunk of a file or a xorb.
struct Chunk {
    Hash hash;
    std::uint32_t bytes = 0; ///< before compression

    bool operator==(const Chunk&) const = default;
};

/// BLAKE3 keyed for chunks.
Hash chunkHash(ByteSpan bytes) noexcept;
/// Of one term of a file, over the hashes of its chunks in order.
Hash verificationHash(std::span<const Hash> chunks) noexcept;
/// Of a xorb, from all its chunks in order.
Hash xorbHash(std::span<const Chunk> chunks);
/// Of a file, from all its chunks in order; zero for none.
Hash fileHash(std::span<const Chunk> chunks);

} // namespace deltascope::xet
