#pragma once

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/state.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// A tensor whose bytes are elsewhere.
struct KnownTensor {
    TensorInfo info;
    Digest128 xxh3 {}; ///< of all its bytes
    std::optional<Digest256> sha256; ///< likewise; nothing: not known
};

/// Tensors that are known by digests alone. walk() is Unsupported.
class DigestState final : public State {
public:
    /// `where`: what messages call it. Errors: Usage (a name occurs twice), Hostile (a shape without a size).
    static Result<std::unique_ptr<DigestState>> of(std::string where, std::vector<KnownTensor> tensors);

    const KnownTensor& known(std::size_t tensor) const noexcept { return m_known[tensor]; } ///< index in tensors()
    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override;
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override;

private:
    DigestState(std::string where, std::vector<KnownTensor> tensors);

    std::string m_where;
    std::vector<KnownTensor> m_known; ///< by name
    std::vector<const TensorInfo*> m_tensors; ///< of these
};

} // namespace deltascope
