#pragma once

#include "deltascope/app/view/problem.h"

#include <string>
#include <vector>

namespace deltascope::app {

/// What reading the objects of a source showed, as every act tells it that uses their bytes.
struct ReadsView {
    std::vector<std::string>
        rewritten; ///< keys of objects that were rewritten since they were first seen, and accepted
    std::vector<ProblemView> notices; ///< objects that could not be compared with what is on record of them
};

} // namespace deltascope::app
