#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "store/xet/hash.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::xet {

// A shard tells a content-addressed store which chunks of which xorbs make up files (draft-denis-xet, "Shard format";
// what hf_xet 1.8 sends). All of it is rows of 48 bytes.

inline constexpr std::size_t ShardRowBytes = 48;
inline constexpr std::size_t MostShardBytes = std::size_t { 64 } << 20;

/// Chunks of a xorb that follow each other in a file.
struct ShardTerm {
    Hash xorb;
    std::uint32_t bytes = 0; ///< before compression
    std::uint32_t first = 0; ///< chunk
    std::uint32_t end = 0;
    Hash verification; ///< see verificationHash

    bool operator==(const ShardTerm&) const = default;
};

struct ShardFile {
    Hash hash;
    std::vector<ShardTerm> terms; ///< none: an empty file

    bool operator==(const ShardFile&) const = default;
};

struct ShardXorb {
    Hash hash;
    std::vector<Chunk> chunks;

    bool operator==(const ShardXorb&) const = default;
};

struct Shard {
    std::vector<ShardFile> files;
    std::vector<ShardXorb> xorbs;
};

/// The upload form: no footer; files and xorbs in the order of their hashes.
std::string writeShard(Shard shard);

/// Either form. Errors: Truncated, Hostile.
Result<Shard> readShard(ByteSpan bytes);

} // namespace deltascope::xet
