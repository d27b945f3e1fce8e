#pragma once

#include "format/common/checkpoint_names.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Names that are steps only among neighbours of their kind: "hf-10" and "hf-20" beside each other, or "10" and "20" in
/// a source in which no name has a step word. Numbers that count from 0 without a gap (ranks), years and days are none.
class CountedSteps {
public:
    /// `folders`: all that hold weights.
    explicit CountedSteps(const std::vector<std::string_view>& folders);

    /// `above`: the path up to the component, with its slash.
    std::optional<StepName> nameOf(std::string_view above, std::string_view component) const;

private:
    std::set<std::string, std::less<>> m_steps; ///< "a/#": all numbers in the folder a
};

} // namespace deltascope
