#pragma once

#include "deltascope/app/acts.h"
#include "deltascope/base/result.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace deltascope::app {

/// `{"kind", "args"}`, as POST /runs/{r}/plans takes it.
nlohmann::ordered_json jsonOf(const ActRequest& request);
/// Errors: Usage (no such object, an argument of another type than texts, whole numbers, true and false).
Result<ActRequest> readActRequest(const nlohmann::json& from);
/// `{"acts": [{"kind", "title", "fields": […]}]}`
std::string toJson(const std::vector<ActInfo>& acts);

} // namespace deltascope::app
