#pragma once

#include "recording.h"

#include "deltascope/app/alerts.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::bundle {

/// What a monitor shows at one moment.
struct Moment {
    std::vector<std::shared_ptr<const app::RunSnapshot>> runs;
    std::shared_ptr<const app::RunSnapshot> run; ///< one of them
    app::AlertListView alerts;
    std::size_t unverified = 0; ///< versions of the newest epoch that came too late to be verified before
};

/// Waits until all was replayed, and the versions of the newest epoch that were there by then were verified. Errors:
/// Canceled; those of the source.
Result<Moment> holdMoment(app::Monitor& monitor, const std::string& run, const Stopped& stopped);

} // namespace deltascope::bundle
