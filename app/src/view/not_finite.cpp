#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/operation_view.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

std::string notFiniteText(const DiffView& diff)
{
    if (diff.notFiniteA + diff.notFiniteB == 0)
        return {};
    const bool isRounded = std::any_of(diff.forms.begin(), diff.forms.end(),
                                       [](const FormDifferenceView& form) { return form.kind == "dtypes"; });
    return fmt::format("NaN or infinite{}: {} of A, {} of B; max |Δ| and the relative L2 leave them out",
                       isRounded ? " as rounded, which makes values infinite that are too large for the narrower dtype"
                                 : "",
                       counted(diff.notFiniteA, "element"), counted(diff.notFiniteB, "element"));
}

} // namespace deltascope::app
