#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Reports the versions that lack a digest which those before and behind them have (docs/formats/dsm1.md, section 9).
void assessAbsentDigests(Run& run);

/// Whether a delta says that it changes nothing. Then it may have the same bytes in every run.
bool changesNothing(const Version& version);

/// Whether a version says that it changes nothing, and no digest of its publisher covers that: it is the newest, or an
/// empty folder.
bool isUnvouchedEmpty(const Run& run, std::size_t version);

/// Whether an empty folder is all that a version is (VersionObjects::emptyBefore).
bool isEmptyFolder(const Version& version);

/// Reports such versions. Nothing speaks against them until one behind does.
void assessEmpty(Run& run);

/// Refuses the empty folders in front of a version that proves a loss: their files may be what is lost.
void assessLostFiles(Run& run);

} // namespace deltascope
