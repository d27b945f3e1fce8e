#pragma once

#include "deltascope/engine/lineage.h"

#include <optional>

namespace deltascope {

/// The newest versions that a publisher of ours says it has put (spans, docs/formats/ds-facts.md) and that are not
/// there: nothing else tells that the last version of a run was removed. Nothing where all are there, or where nobody
/// says anything. Errors: Canceled; spans that cannot be read say nothing.
Result<std::optional<Error>> lostPublications(const Run& run, TaskContext& task);

} // namespace deltascope
