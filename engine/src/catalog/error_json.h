#pragma once

#include "deltascope/base/result.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace deltascope {

/// Errors as the catalog keeps them. Reading takes whatever a damaged file may hold: what is missing stays empty.
nlohmann::json errorToJson(const Error& error);
Error errorFromJson(const nlohmann::json& json);

/// A text of an object; empty if there is none.
std::string textOf(const nlohmann::json& json, const char* key);

} // namespace deltascope
