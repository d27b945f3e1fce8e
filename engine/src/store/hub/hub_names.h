#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <string_view>

namespace deltascope::hub {

/// A user, an organization, a bucket or a model: letters, digits, '-', '_', '.', at most 96 of them; neither "." nor
/// "..".
bool isHubName(std::string_view text) noexcept;

/// Without slashes at its end. Errors: Usage (no http or https, or with a user, a query or a fragment).
Result<std::string> checkedEndpoint(std::string text);

} // namespace deltascope::hub
