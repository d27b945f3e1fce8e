#pragma once

#include <string>

namespace deltascope::http {

/// What the user has set for all programs. Empty: nothing.
struct Environment {
    std::string caFile;
    std::string caFolder;
    std::string noProxy; ///< as libcurl wants it; always with this machine itself
};

Environment readEnvironment();

} // namespace deltascope::http
