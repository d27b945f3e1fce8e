#pragma once

#include "deltascope/base/result.h"
#include "deltascope/engine/http.h"

#include <string>
#include <string_view>

namespace deltascope::xet {

/// An address that one xorb may be sent to.
struct XorbGrant {
    std::string id;
    std::string method;
    std::string url; ///< signed; holds a secret
    http::Headers headers; ///< with these and no others
};

/// The answer to POST /v1/xorb-grants. Errors: Hostile.
Result<XorbGrant> parseXorbGrant(std::string_view json);

} // namespace deltascope::xet
