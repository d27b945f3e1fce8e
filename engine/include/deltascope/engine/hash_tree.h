#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/layout.h"
#include "deltascope/engine/tensor.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

using Digest128 = std::array<std::byte, 16>; ///< XXH3-128, canonical: high half first
using Digest256 = std::array<std::byte, 32>; ///< SHA-256

Digest128 xxh3(ByteSpan bytes) noexcept;
Digest256 sha256(ByteSpan bytes) noexcept;

/// A digest over bytes that arrive in pieces.
class StreamingDigest {
public:
    virtual ~StreamingDigest() = default;
    virtual void update(ByteSpan bytes) noexcept = 0;
    /// Lower-case hex; call once.
    virtual std::string hex() = 0;
};
std::unique_ptr<StreamingDigest> makeXxh3();
std::unique_ptr<StreamingDigest> makeSha256();
/// A publisher's algorithm; not for DigestAlgorithm::None.
std::unique_ptr<StreamingDigest> makeDigest(DigestAlgorithm algorithm);

// DSM1, the hash tree over tensor content: docs/formats/dsm1.md. Independent of files, so shards and header order do
// not matter.

inline constexpr std::uint64_t LeafBytes = 1U << 20;

/// Leaf digests of one tensor, collected from front to back.
class LeafHasher {
public:
    enum class Strength : std::uint8_t { Fast, FastAndStrong };
    explicit LeafHasher(Strength strength);
    ~LeafHasher();
    LeafHasher(LeafHasher&&) noexcept;
    LeafHasher& operator=(LeafHasher&&) noexcept;

    void update(ByteSpan bytes);
    /// Ends the last leaf. Afterwards the lists are complete; no update may follow.
    void finish();
    const std::vector<Digest128>& fast() const noexcept;
    const std::vector<Digest256>& strong() const noexcept; ///< empty with Strength::Fast

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// Nodes of one tensor.
struct TensorNode {
    Digest128 fast {};
    Digest256 strong {}; ///< zero bytes if no strong leaves were given
};
TensorNode tensorNode(const TensorInfo& tensor, const std::vector<Digest128>& fast,
                      const std::vector<Digest256>& strong);

/// Roots of a checkpoint: over its tensors in byte order of names.
struct CheckpointRoot {
    Digest128 fast {};
    Digest256 strong {};
    bool hasStrong = false;
};
/// `nodes`: by byte order of the names of their tensors, as State::tensors() is. `strong`: they have strong digests.
CheckpointRoot checkpointRoot(const std::vector<TensorNode>& nodes, bool strong);

/// Compares every hash with known vectors. Errors: Internal (this machine computes wrong hashes).
Result<void> hashSelfTest();

} // namespace deltascope
