#pragma once

#include "deltascope/base/address.h"

#include <string>
#include <string_view>

namespace deltascope {

/// Whether addresses with this scheme (in lower case) name places in object stores.
bool isRemoteScheme(std::string_view scheme) noexcept;

/// The place that "SCHEME://NAME/PREFIX?OPTION=VALUE&…" names, with a scheme of isRemoteScheme(). Errors: Usage.
Result<RemotePlace> parseRemotePlace(std::string_view scheme, const std::string& address);

} // namespace deltascope
