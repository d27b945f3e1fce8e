#pragma once

#include "store/xet/hash.h"

#include <cstdint>
#include <vector>

namespace deltascope::xet {

/// The root over chunks that come one after the other (draft-denis-xet, "Merkle tree": groups of 3 to 9 nodes, which
/// end where a hash says so). Holds at most nine nodes per level.
class MerkleRoot {
public:
    void add(const Hash& hash, std::uint64_t bytes);
    /// Ends it; zero if nothing was added. Once.
    Hash finish();

private:
    struct Node {
        Hash hash;
        std::uint64_t bytes = 0;
    };
    struct Level {
        std::vector<Node> group; ///< the nodes that have no parent yet
        bool hasParents = false;
    };

    void addAt(std::size_t level, const Node& node);
    static Node parentOf(const std::vector<Node>& group);

    std::vector<Level> m_levels;
};

/// The hash of a file from the root over its chunks.
Hash fileHashOfRoot(const Hash& root) noexcept;

} // namespace deltascope::xet
