#pragma once

#include "deltascope/engine/operations.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Keeps the facts of a version in the catalog. A cache: that it cannot be written must not stop the work. `keys`: as
/// chainKeys(). `counts`: nothing: as the catalog knows them.
void rememberFacts(Workbench& bench, const Run& run, const std::vector<std::string>& keys, std::size_t version,
                   std::optional<std::vector<TensorCount>> counts = {});

} // namespace deltascope
