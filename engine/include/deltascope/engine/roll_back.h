#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/publish.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace deltascope {

/// Which version of a run a user means.
using ChooseVersion = std::function<Result<const Version*>(const Run& run)>;

/// The version whose state an undo restores: the one before the newest roll back. Where an undo published that roll
/// back and did not come to its end, the version that it restores, so that the same call again finishes it. Errors:
/// NotFound (the newest version is no roll back), those of the store.
Result<const Version*> stateBeforeRollBack(Workbench& bench, const Run& run, TaskContext& task);

/// A roll back publishes the state of an earlier step again, as a delta behind the newest one: whoever follows the run
/// by its numbers comes to that state, and nothing is overwritten or removed.
struct RollBackPlan {
    ActPlan act;
    std::int64_t from = 0; ///< newest step
    std::int64_t to = 0; ///< whose state is restored
    std::int64_t step = 0; ///< that is written
    Verdict evidence = Verdict::Unverified; ///< of `to`, from a replay (level 3)
    DiffReport difference; ///< from the state of `from` to that of `to`
    bool isDone = false; ///< the newest version restores `to` already: there is nothing to do
};

/// Reads both states, verifies the target, and writes nothing. Errors: Unsupported (a layout that nothing can be
/// published in, with what to do instead), Exists (somebody publishes there, see expectNoProducer), Usage (the target
/// is the newest version, or has its state), those of verifying (the target is damaged) and replaying.
Result<RollBackPlan> planRollBack(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                                  const ChooseVersion& target, TaskContext& task);

struct RolledBack {
    std::int64_t from = 0; ///< newest step before
    std::int64_t to = 0; ///< whose state is restored
    std::int64_t step = 0; ///< that was written, or was there
    std::uint64_t changedElements = 0;
    std::vector<std::string> keys; ///< that were written
    bool wasThere = false;
};

/// Carries a plan out, holding the lease of the run: publishes, lists the source again, reads the version back and
/// compares its root, and writes what was done into the journal beside the run. After a kill the same call goes on.
/// Errors: Exists (the run is not the one that was planned for; somebody else published at the same time: what was
/// written is removed again), those of planRollBack and Publisher.
Result<RolledBack> rollBack(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                            const ChooseVersion& target, const ActOptions& how, TaskContext& task);

} // namespace deltascope
