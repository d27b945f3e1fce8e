#pragma once

#include "schema.h"

#include <string>

namespace deltascope::app {

/// The objects as entries of `components.schemas` of an OpenAPI 3.0 document, each with a comma behind it, indented as
/// in resources/openapi.json.
std::string openapiOf(const Schema& schema);

} // namespace deltascope::app
