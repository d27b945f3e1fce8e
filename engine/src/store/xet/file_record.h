#pragma once

#include "store/xet/known_chunks.h"
#include "store/xet/merkle.h"
#include "store/xet/shard.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::xet {

/// A file that is added to an upload: what a shard says of it. Xorbs that are still filled have no hash yet.
class FileRecord {
public:
    /// The next chunk of the file lies at `index` in `xorb`.
    void add(const Chunk& chunk, const std::shared_ptr<const KnownXorb>& xorb, std::uint32_t index);
    /// No chunk follows.
    void close();

    const Hash& hash() const noexcept { return m_hash; } ///< after close()
    std::uint64_t bytes() const noexcept { return m_bytes; }
    std::size_t shardRows() const noexcept { return 1 + 2 * m_terms.size(); }
    /// After all its xorbs have their hashes.
    ShardFile shardFile() const;

private:
    struct OpenTerm {
        std::shared_ptr<const KnownXorb> xorb;
        ShardTerm term;
    };
    void closeTerm();

    std::vector<OpenTerm> m_terms;
    std::vector<Hash> m_termChunks; ///< of the last term
    MerkleRoot m_root;
    std::uint64_t m_bytes = 0;
    Hash m_hash;
};

} // namespace deltascope::xet
