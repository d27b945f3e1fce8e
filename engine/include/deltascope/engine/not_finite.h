#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>

namespace deltascope {

/// Elements of two stretches that are NaN or infinite.
struct NotFiniteCounts {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t different = 0; ///< elements whose bits differ, and one side is NaN or infinite

    NotFiniteCounts& operator+=(const NotFiniteCounts& other) noexcept
    {
        a += other.a;
        b += other.b;
        different += other.different;
        return *this;
    }
    bool any() const noexcept { return a > 0 || b > 0; }
    bool operator==(const NotFiniteCounts&) const = default;
};

/// Equally long stretches. Nothing for types that are not floating. Almost free where all elements are finite.
NotFiniteCounts countNotFinite(ByteSpan a, ByteSpan b, Dtype dtype) noexcept;

} // namespace deltascope
