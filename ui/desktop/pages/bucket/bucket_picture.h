#pragma once

#include "bridge/service_bridge.h"
#include "widgets/query.h"

#include "deltascope/app/view/listing_page.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope::desktop {

/// Which part of a listing is shown, and how.
struct BucketWish {
    enum Column { Name, Kind, Step, Size, NeededBy, Modified, State, ColumnCount };

    std::string prefix; ///< empty, or ending with a slash
    std::size_t most = 1000; ///< rows that are read, in the order of their keys
    Query query;
    int sort = Name;
    bool descending = false;

    /// Whether only all rows of the folder give the right answer.
    bool needsAll() const { return !query.isEmpty() || sort != Name || descending; }
};

/// A folder as the page shows it: filtered and sorted, folders first. Immutable; any thread.
struct BucketPicture {
    std::string prefix;
    std::vector<app::ListingRowView> rows;
    std::size_t listed = 0; ///< rows of the folder that were read
    bool complete = true; ///< these are all
    app::ListingTotals totals;
};
using BucketPointer = std::shared_ptr<const BucketPicture>;

BucketPointer makeBucketPicture(const app::ListingView& listing, const app::RunView& run, const BucketWish& wish);

/// Fields that the filter of the page knows.
const std::vector<QueryField>& bucketFields();

/// What stands in a row behind the folder: "step_000012.safetensors", "deltas/".
std::string nameInFolder(const app::ListingRowView& row, const std::string& prefix);
/// "delta", "folder", "other".
QString objectKindText(const app::ListingRowView& row);
/// "12 steps": those that cannot be rebuilt any more if the object is lost.
QString neededByText(const app::ListingRowView& row);
/// The same as a sentence; of those that say no number, why.
QString whyNeededText(const app::ListingRowView& row);

} // namespace deltascope::desktop
