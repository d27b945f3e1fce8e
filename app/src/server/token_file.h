#pragma once

#include "http.h"
#include "secret.h"

#include "deltascope/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// A secret of a script or a person, as the token file names it.
struct Token {
    std::string name;
    Scope scope = Scope::Read;
    SecretDigest digest;
};

/// Lines `NAME SCOPE SECRET`; SCOPE is read, act or admin, SECRET the token itself or sha256:HEX of it. Empty lines and
/// lines that begin with # do not count. No error repeats a secret.
Result<std::vector<Token>> parseTokens(std::string_view text);

/// Names of principals: 1 to 64 letters, digits, and ._@+-
bool isPrincipalName(std::string_view name) noexcept;

} // namespace deltascope::server
