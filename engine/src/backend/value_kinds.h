#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <optional>

namespace deltascope {

/// What kinds of values the elements of a tensor are.
struct ValueKinds {
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;
    std::optional<std::uint64_t> finite; ///< the bits of the finite element that was counted last
    bool finiteDiffer = false; ///< finite elements have different bits; then `finite` is any of them

    bool operator==(const ValueKinds&) const = default;
};

/// Adds the elements of a stretch, a type of numbers. Stretches without NaN and infinity cost one pass of vectors, and
/// once two finite values are known, no other.
void countKinds(ByteSpan elements, Dtype dtype, ValueKinds& kinds) noexcept;

/// Elements of C64 with a part that is NaN or infinite.
std::uint64_t countNotFiniteComplex(ByteSpan elements) noexcept;

} // namespace deltascope
