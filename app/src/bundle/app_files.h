#pragma once

#include "deltascope/app/service.h"
#include "deltascope/app/view/summary_view.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope::bundle {

// The files of a bundle that the desktop app reads (app/src/recorded).

/// The whole run as one document.
std::string snapshotOf(std::shared_ptr<const app::RunSnapshot> snapshot);
/// Lines with the exact counts of each column of the heatmap, as far as they are known; what is left out is said there.
std::string countsOf(const app::Service& service, const app::HeatView& heat, std::vector<std::string>& leftOut);

} // namespace deltascope::bundle
