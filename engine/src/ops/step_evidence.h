#pragma once

#include "deltascope/engine/operations.h"

#include <cstddef>
#include <optional>

namespace deltascope {

/// Whether a complete anchor was compared with the replay before it, without an alarm. That needs a replay from another
/// complete state, and a limit of drift to judge the difference by (driftLimit).
bool agreesWithReplay(const Run& run, std::size_t anchor);

/// For each version, whether neither it nor what it builds on has a problem that forbids trust: tensors may be missing,
/// or be there twice, where digests of the others match.
std::vector<bool> trustworthySteps(const Run& run);

/// What vouches for what a replay up to version `at` compared with nothing. Parameters as those of coverageAt().
EvidenceAround evidenceAround(const Run& run, std::size_t at, Evidence ofObjects, Evidence ofBase, bool anchors);

/// What vouches for each tensor of the state behind version `at`, as its own replay and the anchors around it show.
/// `ofObjects`: what vouches for bytes that nothing else does; `ofBase`: for those of the checkpoint outside of the
/// source; `anchors`: comparisons with anchors count. Nothing where the version cannot be rebuilt or no replay of it
/// was seen.
std::optional<Coverage> coverageAt(const Run& run, std::size_t at, Evidence ofObjects, Evidence ofBase, bool anchors);

/// The last word in the order of Verdict that a step of the report has. The first complete anchor of an epoch does not
/// lower it by being read for the first time: that is where trust in an epoch begins. If there are only such anchors,
/// the word is theirs.
Verdict verdictOfSteps(const Run& run, const std::vector<StepVerdict>& steps);

/// For each epoch with a step in the report: the last step up to which all are verified or consistent.
std::vector<ConsistentTo> consistentTo(const Run& run, const std::vector<StepVerdict>& steps);

} // namespace deltascope
