#pragma once

#include <string>

namespace deltascope::app {

/// What vouches for a state, behind "step 12 is": RollBackView::evidence in words for people.
std::string evidenceWords(const std::string& evidence);

} // namespace deltascope::app
