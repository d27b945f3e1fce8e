#pragma once

#include "deltascope/engine/operations.h"
#include "notice_changes.h"
#include "read_headers.h"

#include <string>
#include <vector>

namespace deltascope {

// What the catalog keeps of headers. It is a cache: where it cannot be read or written, nothing is known.

/// What is kept under a key; empty without a catalog.
KnownVersions knownVersions(Workbench& bench, const std::string& key);

/// Whether the catalog may know the source: what it knows says later that there were records of it.
bool mayBeKnown(Workbench& bench, const ObjectStore& store);

/// Keeps what was read of these, so that it is not read again.
void keepSummaries(Workbench& bench, const ObjectStore& store, const std::string& key,
                   const std::vector<WantedForm>& read);

} // namespace deltascope
