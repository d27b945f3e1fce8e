#pragma once

#include "deltascope/base/tensor_hashes.h"
#include "hash/hashers.h"

#include <optional>

namespace deltascope {

/// Digests of one tensor as a whole.
struct WholeDigests {
    Digest128 xxh3;
    std::optional<Digest256> sha256;
};

/// Hashes one tensor as a whole, block by block.
class WholeHasher {
public:
    explicit WholeHasher(TensorHashes hashes)
    {
        if (hashes == TensorHashes::Xxh3AndSha256)
            m_sha256.emplace().reset();
    }
    void update(ByteSpan block)
    {
        m_xxh3.update(block);
        if (m_sha256)
            m_sha256->update(block);
    }
    WholeDigests finish()
    {
        WholeDigests digests { m_xxh3.digest(), {} };
        if (m_sha256)
            digests.sha256 = m_sha256->digest();
        return digests;
    }

private:
    Xxh3Hasher m_xxh3;
    std::optional<Sha256Hasher> m_sha256;
};

} // namespace deltascope
