#pragma once

#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::app {

/// One row of a folder: an object, or a folder below it.
struct ListingRowView {
    std::string key; ///< of a folder with the slash behind it
    std::uint64_t sizeBytes = 0; ///< of a folder the sum of what is in it
    std::int64_t modifiedUs = 0; ///< of a folder the newest
    std::optional<std::int64_t> step;
    std::string kind; ///< empty for objects of no version
    std::string state;
    std::optional<std::uint64_t> neededBy; ///< as in ListingEntryView
    bool folder = false;
};

struct ListingTotals {
    std::uint64_t anchors = 0, anchorBytes = 0;
    std::uint64_t deltas = 0, deltaBytes = 0;
    std::uint64_t other = 0, otherBytes = 0;
};

/// A part of what lies right below a prefix, folders and objects by key.
struct ListingPage {
    std::uint64_t revision = 0;
    std::string prefix;
    std::vector<ListingRowView> rows;
    std::string nextCursor; ///< key behind which the next page begins; empty: this was the last one
    ListingTotals totals; ///< of the whole source
};

/// `prefix`: empty, or ending with a slash. `after`: cursor of the page before; empty: the first. `run`: tells states.
ListingPage makeListingPage(const ListingView& listing, const RunView& run, const std::string& prefix,
                            const std::string& after, std::size_t limit);

} // namespace deltascope::app
