#pragma once

#include "deltascope/app/bundle.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// What a bundle holds, for faces that are not the page in it.
struct RecordedRun {
    BundleAbout about;
    std::shared_ptr<const RunSnapshot> snapshot;
    std::vector<AlertView> alerts;
    std::shared_ptr<const ListingView> listing;
    std::shared_ptr<const AnnotationsView> annotations; ///< null: the program that wrote the bundle kept none
    /// Changed elements of each tensor of the heatmap, by epoch and step.
    std::map<std::pair<int, std::int64_t>, std::vector<std::uint64_t>> counts;
};

/// Errors: those of OpenedBundle::open.
Result<RecordedRun> readBundle(const std::string& path);

} // namespace deltascope::app
