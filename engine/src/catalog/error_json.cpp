#include "error_json.h"

#include <nlohmann/json.hpp>

namespace deltascope {

nlohmann::json errorToJson(const Error& error)
{
    nlohmann::json json { { "code", word(error.code) }, { "text", error.text }, { "where", error.where }, { "action", error.action } };
    if (error.step)
        json["step"] = *error.step;
    return json;
}

Error errorFromJson(const nlohmann::json& json)
{
    Error error;
    error.code = parseCode(json.value("code", "")).value_or(Code::Internal);
    error.text = json.value("text", "");
    error.where = json.value("where", "");
    error.action = json.value("action", "");
    if (const auto step = json.find("step"); step != json.end() && step->is_number_integer())
        error.step = step->get<std::int64_t>();
    return error;
}

} // namespace deltascope
