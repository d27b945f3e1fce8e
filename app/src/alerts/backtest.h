#pragma once

#include "deltascope/app/view/summary_view.h"

#include <cstdint>
#include <functional>

namespace deltascope::app {

using Visit = std::function<void(const RunSnapshot& then, std::int64_t nowUs)>;

/// Lets a run come about again: calls `visit` with what there was just before each publication and right after it, and
/// at the end of all that is known. Replicas serve what their spans say that they have loaded.
void replayRun(const RunSnapshot& snapshot, const Visit& visit);

} // namespace deltascope::app
