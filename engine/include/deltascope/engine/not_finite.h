#pragma once

#include <cstdint>

namespace deltascope {

/// Elements of two stretches that are NaN or infinite; none of types that are not floating.
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

} // namespace deltascope
