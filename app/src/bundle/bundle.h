#pragma once

#include "recording.h"

#include "deltascope/app/service.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::bundle {

/// What came of an export.
struct BundleView {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t steps = 0;
    std::vector<std::string> leftOut; ///< parts of sentences
};
std::string toJson(const BundleView& view);

/// Whether a bundle can be made there; to be asked before the work. Errors: Exists, NotFound.
Result<void> expectPlace(const std::string& destination);

/// Writes what a dashboard shows of a run, and the page that shows it, as one file (docs/formats/dscope.md). Follows
/// the run until all that can be replayed was, and the newest epoch was verified. Never replaces a file. `stopped`
/// ends it (Canceled). Errors: Exists, Io, NoSpace; those of the source.
Result<BundleView> exportBundle(app::Service& service, const app::SourceRequest& source, const std::string& destination,
                                const Stopped& stopped);

} // namespace deltascope::bundle
