#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deltascope {

// Health speaks of values, evidence of bytes: a publisher that ships broken weights with the right digests is verified
// and suspect. The measures stand in docs/damage.md, section 4.

/// What is wrong with the values of a tensor behind a version.
enum class Suspicion : std::uint8_t {
    NotFinite, ///< elements are NaN or infinite, and some had not the same bits before
    Zero, ///< it became all zeros
    Constant, ///< it became one value throughout, which is not zero
    SignFlips, ///< far more of its changed elements than usual have the other sign
    Move, ///< it moved much further than usual, as a share of its own norm
    UlpDistance, ///< many of its elements moved many more steps of their type than any did before
    NotChanged, ///< it did not change, while the rest of the model did as usual
    Wrap, ///< it has more elements than the positions of the layout can count
    ZeroLayer, ///< of a first state: it is all zeros, as is its whole layer, norms included
};
std::string_view word(Suspicion suspicion) noexcept; ///< "not_finite", "zero", …

struct SuspectTensor {
    std::string name;
    Suspicion suspicion = Suspicion::NotFinite;
    /// NotFinite: elements of the state that are. SignFlips, UlpDistance: elements. Move: L2 norm of the change over
    /// that of the tensor. Wrap: elements of the tensor. Else 0.
    double figure = 0;
    /// What the last deltas explain: of SignFlips elements, of Move as `figure`, of UlpDistance the largest distance,
    /// of NotChanged the fewest changed elements. Of NotFinite the elements that were before any finding. Of Wrap the
    /// elements that can be counted. Else 0.
    double usual = 0;

    bool operator==(const SuspectTensor&) const = default;
};

} // namespace deltascope
