#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace deltascope {

/// The middle one of some values in their order; of an even number the mean of the two in the middle. Nothing of none.
inline std::optional<double> medianOf(std::vector<double> values)
{
    if (values.empty())
        return std::nullopt;
    const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), upper, values.end());
    if (values.size() % 2 == 1)
        return *upper;
    return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

} // namespace deltascope
