#pragma once

#include "deltascope/engine/path_state.h"

#include <optional>
#include <string_view>

namespace deltascope {

/// The last link up to `link` that touches the tensor. Nothing if none does.
inline std::optional<std::size_t> touchedAt(const PathState& chain, std::string_view tensor, std::size_t link)
{
    for (std::size_t at = link + 1; at-- > 0;) {
        if (chain.links()[at]->index.find(tensor))
            return at;
    }
    return std::nullopt;
}

} // namespace deltascope
