#pragma once

#include "deltascope/app/service.h"

#include <string>

namespace deltascope::app {

// What a person types to get the same as a face shows.

/// As a POSIX shell wants it.
std::string quoted(const std::string& text);
/// How a source is read, beginning with a space; empty for what is found without options.
std::string sourceOptions(const SourceRequest& source);

} // namespace deltascope::app
