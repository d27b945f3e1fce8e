#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace deltascope::test {

/// DELTASCOPE_SLICE, which tests/support/sweep.py describes: empty, "all", or a whole number that is another one each
/// day.
inline std::string_view slice()
{
    const char* const chosen = std::getenv("DELTASCOPE_SLICE");
    return chosen ? chosen : "";
}

/// Whether sweeps try everything, as `--long` does.
inline bool isWholeSweep() { return slice() == "all"; }

/// Of `count` trials of a sweep, those to make: all of a whole sweep, else each `stride`-th, beginning where the slice
/// says. Ascending, from 0 on.
inline std::vector<std::size_t> chosenTrials(std::size_t count, std::size_t stride)
{
    const std::size_t first =
        isWholeSweep() || slice().empty() ? 0 : std::strtoul(slice().data(), nullptr, 10) % stride;
    std::vector<std::size_t> trials;
    for (std::size_t i = first; i < count; i += isWholeSweep() ? 1 : stride)
        trials.push_back(i);
    return trials;
}

} // namespace deltascope::test
