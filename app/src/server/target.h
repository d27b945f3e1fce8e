#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope::server {

/// The target of a request line, decoded.
struct Target {
    std::string path;
    std::map<std::string, std::string, std::less<>> query; ///< of a repeated key the last value
};

/// Nothing for what no client sends: a target that does not begin with a slash, broken escapes, control characters, an
/// escaped slash in the path.
std::optional<Target> parseTarget(std::string_view target);

} // namespace deltascope::server
