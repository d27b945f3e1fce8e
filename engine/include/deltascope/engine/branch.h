#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/publish.h"
#include "deltascope/engine/roll_back.h"

#include <cstdint>
#include <memory>
#include <string>

namespace deltascope {

/// A branch is a new run in another place that begins with the state of a step: one anchor, which names where it comes
/// from (fact::Branch). The run that it comes from is not changed.
struct BranchPlan {
    ActPlan act;
    std::int64_t from = 0; ///< step whose state the new run begins with
    std::int64_t step = 0; ///< the first one of the new run
    Verdict evidence = Verdict::Unverified; ///< of `from`, from a replay (level 3)
    std::uint64_t stateBytes = 0;
    bool isDone = false; ///< the new run is there already: there is nothing to do
};

/// Where the new run is. It is written in trl-v2, whose runs begin with an anchor.
struct BranchTarget {
    std::string address; ///< canonical
    std::shared_ptr<ObjectStore> into; ///< empty, or the branch itself; null, for a plan: the folder is not there yet
};

/// Verifies the step, and writes nothing. Errors: Exists (something else is in `into`), those of verifying and
/// replaying.
Result<BranchPlan> planBranch(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                              const ChooseVersion& version, const BranchTarget& target, TaskContext& task);

struct Branched {
    std::int64_t from = 0;
    std::int64_t step = 0;
    std::vector<std::string> keys; ///< that were written
    bool wasThere = false;
};

/// Carries a plan out: publishes the anchor under the lease of the new run, reads it back and compares its root, and
/// writes what was done into the journal beside the new run. After a kill the same call goes on. Errors: Exists (the
/// plan does not fit any more), those of planBranch and Publisher.
Result<Branched> branch(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                        const ChooseVersion& version, const BranchTarget& target, const ActOptions& how,
                        TaskContext& task);

} // namespace deltascope
