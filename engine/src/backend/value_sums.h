#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>

namespace deltascope {

/// Sums over the finite elements of a stretch, in binary64.
struct ValueSums {
    std::uint64_t finite = 0;
    double sum = 0;
    double squares = 0;

    ValueSums& operator+=(const ValueSums& other) noexcept;
    /// The standard deviation; 0 without finite elements.
    double deviation() const noexcept;
};

/// Of a type of numbers. Elements are added in order.
ValueSums sumValues(ByteSpan elements, Dtype dtype) noexcept;

} // namespace deltascope
