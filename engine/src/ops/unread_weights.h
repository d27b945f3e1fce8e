#pragma once

#include "candidate_runs.h"

#include <vector>

namespace deltascope {

/// Where versions stand alone and have steps: notes the weights of a listing that belong to no version, no other run
/// and no other model, such as a merged model or the last step in another form. Another form of a step that is read is
/// not noted. `candidates`: all runs of the listing, the one that is read first.
void noteUnreadWeights(Run& run, const std::vector<CandidateRun>& candidates, const std::vector<ObjectInfo>& listing);

} // namespace deltascope
