#pragma once

#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/base/result.h"

namespace deltascope::bundle {

// What was read of a source after a look at it, brought to that look.

struct HeldListing {
    app::ListingView view;
    bool hasMoved = false; ///< objects of versions came, went or changed: how many steps need an object is not known
};
HeldListing heldListing(app::ListingView now, const app::RunView& run);

/// Errors: Rewritten, if the version has other objects now.
Result<app::StepDetailView> heldDetail(app::StepDetailView now, const app::RunView& run);

/// With the refs and notes of that look.
app::AnnotationsView heldAnnotations(app::AnnotationsView now, const app::RunView& run);

} // namespace deltascope::bundle
