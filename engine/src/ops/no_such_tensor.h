#pragma once

#include "deltascope/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The end of a sentence about a tensor that is not there: "; did you mean a, b or c?" Empty if no name is near.
std::string didYouMean(std::string_view typed, const std::vector<std::string_view>& names);

/// That a state has no tensor of this name, and which was probably meant. `where`, `step`: StatePlace.
Error noSuchTensor(std::string_view name, std::optional<std::int64_t> step, std::string where,
                   const std::vector<std::string_view>& names);

} // namespace deltascope
