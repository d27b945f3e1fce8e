#pragma once

#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/touched_view.h"
#include "pages/diff/diff_table.h"

#include <memory>

namespace deltascope::desktop {

// What a comparison is shown as, made from its view. Pure.

using DiffPointer = std::shared_ptr<const app::DiffView>;
using TouchedPointer = std::shared_ptr<const app::TouchedView>;

DiffTable::Content differentTensors(DiffPointer diff);
DiffTable::Content tensorsOfOneSide(DiffPointer diff);
DiffTable::Content reshapedTensors(DiffPointer diff);
DiffTable::Content touchedTensors(TouchedPointer touched);

/// A difference of values: "3.1e-3", "0".
QString smallText(double value);
/// The tensor with the largest difference; null: there is none.
const app::TensorDiffView* largestDifference(const app::DiffView& diff);

} // namespace deltascope::desktop
