#include "backend/value_sums.h"

#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace deltascope {

ValueSums& ValueSums::operator+=(const ValueSums& other) noexcept
{
    finite += other.finite;
    sum += other.sum;
    squares += other.squares;
    return *this;
}

double ValueSums::deviation() const noexcept
{
    if (finite == 0)
        return 0;
    const auto count = static_cast<double>(finite);
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

ValueSums sumValues(ByteSpan elements, Dtype dtype) noexcept
{
    ValueSums sums;
    const auto add = [&](auto format) {
        using Bits = typename decltype(format)::Bits;
        for (std::size_t at = 0; at < elements.size(); at += sizeof(Bits)) {
            const double value = numberOf(format, loadLe<Bits>(elements, at));
            if (std::isfinite(value))
                sums += { 1, value, value * value };
        }
    };
    [[maybe_unused]] const bool added = withNumbers(dtype, add, add);
    assert(added);
    return sums;
}

} // namespace deltascope
