#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Compares the files of checkpoints that stand alone, by the digests that are on record of them, and notes in each
/// version which of its files are those of an earlier one (Reverted, Repeated), in place of what was noted before. The
/// run has to be assessed again. `onRecord`: of the source.
void noteRepeatedFiles(Run& run, const std::map<std::string, Records::KnownObject>& onRecord);

} // namespace deltascope
