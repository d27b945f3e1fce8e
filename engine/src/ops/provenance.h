#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/provenance.h"

#include <string>

namespace deltascope {

/// Text that names everything that the bytes of a rebuild depend on but the identities of the objects: what was rebuilt
/// of each tensor is bound to those (TensorSources).
std::string rebuildPlanText(const Run& run, const Version& version, const Plan& plan, std::uint64_t shardBytes);

/// The same for a rebuild that several machines share, which may have mounted the source in different places: nothing
/// in it is local to one of them, and sizes and times stand for the identities.
std::string sharedPlanText(const Run& run, const Version& version, const Plan& plan, std::uint64_t shardBytes);

/// The file that lies beside a rebuilt checkpoint: what it was made from and what was checked.
std::string provenanceText(const Run& run, const Version& version, const Plan& plan, const MaterializeReport& report,
                           const std::string& toolVersion, std::int64_t nowUs);

} // namespace deltascope
