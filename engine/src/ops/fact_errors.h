#pragma once

#include "deltascope/engine/plan.h"
#include "replay/object_reads.h"

namespace deltascope {

/// Whether an error says that nothing can be learned of an object as it stands there: also one that was replaced since
/// it was listed. What can be learned of others stands.
inline bool endsLearning(Code code) noexcept { return speaksOfAnObject(code) || code == Code::Rewritten; }

/// Whether an error says that an object is damaged: its bytes, or those of a mirror, which are unlike what is on record
/// of the source's.
inline bool saysDamage(const Error& error) { return speaksOfAnObject(error.code) || saysUnlikeRecord(error); }

} // namespace deltascope
