#pragma once

#include "deltascope/engine/digest_state.h"
#include "deltascope/engine/operations.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// How the tensors of a state compare with digests that somebody took elsewhere.
struct DigestCheck {
    std::uint64_t tensorsCompared = 0;
    std::uint64_t bySha256 = 0; ///< of them; the others by XXH3 alone
    std::uint64_t bytesHashed = 0;
    std::vector<std::string> different; ///< tensors with other bytes, by name
    std::vector<ReshapedTensor> reshaped; ///< not compared: `a` of the state, `b` of the digests
    std::vector<std::string> onlyInState, onlyInDigests;
    std::vector<FormDifference> forms; ///< as in DiffReport; A is the state, B the digests
    bool noopsSeen = false; ///< as in CheckpointDigest

    /// Of all tensors of both, with no form taken out of account; never where there are none.
    bool equal() const noexcept
    {
        return tensorsCompared > 0 && different.empty() && reshaped.empty() && onlyInState.empty()
            && onlyInDigests.empty() && forms.empty();
    }
};

/// Hashes the tensors of a state and compares them with digests. As diffStates() does across forms, it takes prefixes
/// of names out of account, projections that the digests are fused of, and wider dtypes of the state, which it rounds;
/// digests cannot be rounded or fused. A state with other bytes is hashed once more, for the root that its
/// publisher recorded of it. Errors: as digestState().
Result<DigestCheck> checkDigests(const Workbench& bench, const State& state, const DigestState& digests,
                                 TaskContext& task);

} // namespace deltascope
