#pragma once

#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

// Engine values to view values. Pure functions.

StepView makeStepView(const Run& run, const Version& version);
RunView makeRunView(const Run& run);
/// `tensors`: of the state; `counts`: what the catalog knows of this version.
StepDetailView makeStepDetailView(const Run& run, const Version& version, const std::vector<TensorInfo>& tensors,
                                  const std::vector<TensorCount>& counts);
VerifyView makeVerifyView(const Run& run, const VerifyReport& report);
DigestView makeDigestView(const CheckpointDigest& digest);
DiffView makeDiffView(const DiffReport& report);

} // namespace deltascope::app
