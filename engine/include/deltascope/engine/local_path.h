#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <string_view>

namespace deltascope {

/// The path that an address of a source means: the address itself, or what "file:///…" says, decoded. It need not
/// exist, and is as relative and as full of links as it was given. Errors: Usage, Unsupported (a scheme of another
/// build).
Result<std::string> localPathOf(std::string_view address);

} // namespace deltascope
