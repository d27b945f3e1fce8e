#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// Stores that hold the same objects as a source, and may be read in its place.
struct ChosenMirrors {
    std::vector<std::shared_ptr<const ObjectStore>> stores;
    std::vector<Error> notices; ///< what the source offers and is not read, and what could not be remembered
};

/// Opens the mirrors that the user names, remembers them (Records), and opens what the source itself offers
/// (docs/formats/mirror.md) if the user has named the same address for this source before: a foreign bucket must not
/// point the program at hosts or folders. `named`: addresses, relative ones from the working directory. Errors: Usage
/// (the source itself, or an address that is none), those of Stores::open() for what the user names.
Result<ChosenMirrors> chooseMirrors(Workbench& bench, const ObjectStore& source, const std::vector<Address>& named,
                                    TaskContext& task);

} // namespace deltascope
