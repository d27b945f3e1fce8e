#pragma once

#include "deltascope/base/result.h"

#include <string>

namespace deltascope {

/// What a caller of deltascope/device.h does about an error: options of the command line become fields of its structs,
/// and what only the command line can do is left out.
std::string remedyForC(const Error& error);

} // namespace deltascope
