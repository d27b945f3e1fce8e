#pragma once

#include "deltascope/app/leftovers.h"

#include "terminal.h"

#include <string>

namespace deltascope::cli {

std::string leftoversText(const app::LeftoversView& view, const Style& style);

} // namespace deltascope::cli
