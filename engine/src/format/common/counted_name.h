#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deltascope {

/// A name that is one word and a number: "v12", "weight_v000012", "12".
struct CountedName {
    std::string_view word; ///< may be empty
    std::int64_t number = 0;
};
std::optional<CountedName> countedName(std::string_view name) noexcept;

} // namespace deltascope
