#pragma once

#include "deltascope/base/result.h"

#include <nlohmann/json_fwd.hpp>

namespace deltascope {

/// Errors as the catalog keeps them.
nlohmann::json errorToJson(const Error& error);
Error errorFromJson(const nlohmann::json& json);

} // namespace deltascope
