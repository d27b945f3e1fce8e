#pragma once

#include "deltascope/engine/lineage.h"

#include <string>
#include <vector>

namespace deltascope {

/// One stream of versions below an address.
struct CandidateRun {
    RunPlace place; ///< its folder is found where there are several
    std::vector<VersionObjects> versions; ///< ascending by step
};

/// Every run of a layout that a listing holds, the one to show first: the one that lies in the folder itself, else the
/// one with the most versions, and of equal ones the one that was published last. Where versions stand alone, runs of
/// critics, optimizers and averages come last; steps that are called so beside others are no run. Objects with one stem
/// of a name
/// ("aa/deltas/step_") are of one run. Errors: Usage (there are more than eight).
Result<std::vector<CandidateRun>> candidateRuns(const Layout& layout, const std::string& source,
                                                const std::vector<ObjectInfo>& listing);

/// Run::places.
std::vector<RunPlace> placesOf(const std::vector<CandidateRun>& candidates);
/// What to say of the runs that are not shown; empty if there is one.
std::vector<Error> otherRuns(const std::string& source, const std::vector<CandidateRun>& candidates);

} // namespace deltascope
