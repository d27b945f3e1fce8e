#pragma once

#include "view/io/schema.h"

#include <string>

namespace deltascope::app {

/// A type for each set of words that has a name, and an interface for each object.
std::string typescriptOf(const Schema& schema);

} // namespace deltascope::app
