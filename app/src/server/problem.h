#pragma once

#include "http.h"

#include "deltascope/base/code.h"

#include <string>
#include <string_view>

namespace deltascope::server {

/// An answer of application/problem+json. `hint`: what to do about it; empty: the code's own remedy.
HttpResponse problem(int status, Code code, std::string_view detail, std::string_view hint = {});

} // namespace deltascope::server
