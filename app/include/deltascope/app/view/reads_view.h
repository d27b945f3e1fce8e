#pragma once

#include "deltascope/app/view/problem.h"

#include <string>
#include <vector>

namespace deltascope::app {

/// What reading the objects of a source showed, as every act tells it that uses their bytes.
struct ReadsView {
    std::vector<std::string>
        rewritten; ///< keys of objects that were rewritten since they were first seen, and accepted
    std::vector<ProblemView> notices; ///< what could not be compared: objects with their record, or the state before
};

} // namespace deltascope::app
