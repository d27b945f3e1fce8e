#pragma once

#include "deltascope/engine/operations.h"

#include <vector>

namespace deltascope {

/// Gives the complete states that an earlier run left beside deltas of a later one, under the same numbers, versions of
/// their own in the epoch that they belong to (docs/decisions/0009). Times suggest them: such a state is older than
/// everything of the run whose delta it stands beside. It is separated where a replay shows that it is not of that run
/// (decide_forms.h); one that leads to the same bits is a second form of its step and stays one. `epochs`: of each
/// version. Objects may be read; Workbench::records keep each answer. Errors: Canceled, those of the store.
Result<void> separateLeftAnchors(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                 const std::shared_ptr<const Layout>& layout, const std::optional<ExternalBase>& base,
                                 std::vector<IndexedObjects>& versions, std::vector<int>& epochs, EpochChoice choice,
                                 TaskContext& task);

} // namespace deltascope
