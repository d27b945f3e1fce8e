#pragma once

#include "deltascope/engine/operations.h"

#include <vector>

namespace deltascope {

/// The epoch of each version, 0 = oldest, by all evidence that there is (docs/decisions/0009). `versions` ascend by
/// step. Where times alone suggest that the trainer started again, objects may be read; Workbench::records keep each
/// answer, so that this happens once. Errors: Canceled, those of the store.
Result<std::vector<int>> decideEpochs(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                      const std::shared_ptr<const Layout>& layout,
                                      const std::optional<ExternalBase>& base,
                                      const std::vector<IndexedObjects>& versions, EpochChoice choice,
                                      TaskContext& task);

} // namespace deltascope
