#pragma once

#include "deltascope/app/view/problem.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {
struct ActPlan;
}

namespace deltascope::app {

/// An object that an act reads, writes or deletes.
struct PlannedObjectView {
    std::string store; ///< address; empty: the source
    std::string key;
    std::uint64_t bytes = 0; ///< 0 for what is written, and where nothing but headers is read
};

/// What an act is going to do, as the engine has planned it.
struct ActPlanView {
    std::string kind;
    std::string hash; ///< hex; binds the act that runs to exactly this
    std::vector<PlannedObjectView> reads, writes, deletes;
    std::uint64_t readBytes = 0;
    std::vector<std::pair<std::string, std::string>>
        beside; ///< objects that come beside the run, by kind with their number
    std::vector<std::pair<std::string, std::string>> effects;
    std::vector<ProblemView> warnings;
    std::vector<std::string> unknown;
    std::string undo; ///< act that takes it back; empty: none
    /// The plan itself, with identities: of an act that is done as far as the plan still fits. Null: of any other.
    std::shared_ptr<const ActPlan> exact;
};

/// Elements of one tensor that an act changes.
struct ChangedTensorView {
    std::string name;
    std::uint64_t elements = 0;
    std::uint64_t changed = 0;
};

/// An act that only reads a run, planned; carried out it ends with a view of its own.
struct PlannedReadView {
    std::string source;
    std::string run; ///< name of the run
    ActPlanView plan;
};

/// A roll back, planned or carried out.
struct RollBackView {
    std::string source;
    std::string run; ///< name of the run
    std::int64_t from = 0; ///< newest step before
    std::int64_t to = 0; ///< step whose state is restored
    std::int64_t step = 0; ///< that is written
    std::string evidence; ///< of `to`: "verified", "consistent", "first_sight"; empty once it is carried out
    std::uint64_t changedElements = 0; ///< between both states
    std::uint64_t totalElements = 0;
    std::uint64_t changedTensors = 0;
    std::vector<ChangedTensorView> tensors; ///< by share, largest first; at most 256; empty once it is carried out
    ActPlanView plan; ///< empty once it is carried out
    bool isDone = false; ///< carried out
    bool wasThere = false; ///< the newest step restored `to` already: nothing was written
    std::vector<std::string> keys; ///< that were written
};

/// A branch, planned or carried out.
struct BranchView {
    std::string source;
    std::string run; ///< name of the run that it comes from
    std::string into; ///< address of the new run
    std::int64_t from = 0; ///< step whose state it begins with
    std::int64_t step = 0; ///< the first one of the new run
    std::string evidence; ///< of `from`: "verified", "consistent", "first_sight"; empty once it is carried out
    std::uint64_t stateBytes = 0; ///< of that state; 0 once it is carried out
    ActPlanView plan; ///< empty once it is carried out
    bool isDone = false; ///< carried out
    bool wasThere = false; ///< the new run was there already: nothing was written
    std::vector<std::string> keys; ///< that were written
};

/// A hidden folder that a stopped rebuild left, in a plan or in what came of it.
struct DiscardedView {
    std::string path;
    std::string destination; ///< the folder that it would have become
    std::uint64_t bytes = 0; ///< of its files, where the plan removes it
    bool planned = false; ///< the plan removes it; what it leaves alone has a problem that says why
    bool removed = false;
    std::optional<ProblemView> problem; ///< why it stays
};

/// A discard, planned or carried out.
struct DiscardView {
    std::string folder; ///< that the leftovers lie in
    std::vector<DiscardedView> leftovers; ///< in order of names
    ActPlanView plan; ///< empty once it is carried out
    bool isDone = false; ///< carried out, as far as the leftovers were as planned
};

} // namespace deltascope::app
