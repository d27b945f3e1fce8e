#pragma once

#include "deltascope/base/task.h"
#include "deltascope/engine/leftovers.h"

#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Which leftovers of materializations are discarded.
struct DiscardChoice {
    std::string folder; ///< that they lie in
    std::string name; ///< of the folder that they would have become; empty: any
    bool alsoShared = false; ///< also those that several processes share, whose parts may be whole
};

struct DiscardPlan {
    ActPlan act; ///< deletes everything in `leftovers`, and nothing else; a warning names each one that stays
    std::vector<Leftover> leftovers; ///< that go
};

/// Removes nothing. Errors: Usage (`name` is no name), those of findLeftovers.
Result<DiscardPlan> planDiscard(FileSystem& disk, const DiscardChoice& choice, TaskContext& task);

/// What became of one leftover of a plan.
struct Discarded {
    std::string path;
    std::string destination;
    std::uint64_t bytes = 0; ///< as planned
    std::optional<Error> refusal; ///< why it is still there; nothing: it was removed
};

/// Removes what a plan of planDiscard() deletes, in its order. Each leftover is locked and compared with the plan right
/// before it is removed. One that a process has taken up, that changed, that is gone or that the disk does not remove
/// is refused, and the others go on. Errors: Usage (it is no such plan), Canceled; what was removed before stays
/// removed.
Result<std::vector<Discarded>> discard(FileSystem& disk, const ActPlan& plan, TaskContext& task);

} // namespace deltascope
