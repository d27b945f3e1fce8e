#pragma once

#include "view/io/schema.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace deltascope::app {

/// The objects as entries of `components.schemas` of an OpenAPI 3.0 document, each with a comma behind it, indented as
/// in resources/openapi.json.
std::string openapiOf(const Schema& schema);
/// Likewise an entry that is one of these schemas.
std::string openapiOneOf(const std::string& name, const std::vector<nlohmann::ordered_json>& schemas);

} // namespace deltascope::app
