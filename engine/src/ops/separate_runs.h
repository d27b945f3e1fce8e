#pragma once

#include "deltascope/engine/operations.h"

#include <vector>

namespace deltascope {

/// Which run each version belongs to, where versions stand alone.
struct SeparatedRuns {
    std::vector<int> epochs; ///< of each version; 0 = oldest
    std::vector<Error> notices; ///< what is passed over, and what nothing decides
};

/// Parts the runs that lie in one folder (docs/decisions/0009, "Checkpoints that stand alone"). `versions` ascend by
/// step; the model in the source itself takes no part and counts to the newest run. Where times suggest another run,
/// trainer_state.json and a sample of the weights are read; Workbench::records keep what the sample showed. Errors:
/// Canceled, those of the store.
Result<SeparatedRuns> separateRuns(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                   const std::shared_ptr<const Layout>& layout, const std::vector<ObjectInfo>& listing,
                                   const std::vector<IndexedObjects>& versions, EpochChoice choice, TaskContext& task);

} // namespace deltascope
