#pragma once

#include "deltascope/engine/lineage.h"
#include "lineage/loss_test.h"

#include <vector>

namespace deltascope {

/// What the no-ops of each version say, by index in Run::versions; Habit for those that have no facts, that
/// restore an earlier state, or whose publisher's digests decide. Deltas are tested in order. The habit of one is made
/// of the deltas in front of it since the last complete anchor and of those between all other anchors, also later ones
/// and those of other epochs; what lies between a first proof and the next complete anchor joins no habit.
std::vector<NoopVerdict> judgeNoops(const Run& run);

/// Reports a writer whose deltas hold no-ops by habit: it may miss changes, too.
void assessHabit(Run& run);

} // namespace deltascope
