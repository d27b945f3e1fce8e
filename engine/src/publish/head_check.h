#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Holds the state that a run ends with against what is known of it, without rebuilding it. All objects on its way are
/// compared with the records: those whose identity differs from the record are read whole. The newest form is read:
/// `from`, which has the recorded root of the state, must be what it leads to. Of a delta that is xored in, what the
/// tensor was before is compared with the last digest that the run records of it. Null: it is only decoded, and
/// complete forms are not read. Errors: those of openChecked(), Rewritten, Digest, those of the layout.
Result<void> expectSoundHead(Workbench& bench, const Run& run, const Version& newest, const State* from,
                             bool acceptRewritten, TaskContext& task);

} // namespace deltascope
