#include "error_json.h"

#include <nlohmann/json.hpp>

namespace deltascope {

nlohmann::json errorToJson(const Error& error)
{
    nlohmann::json json {
        { "code", word(error.code) }, { "text", error.text }, { "where", error.where }, { "action", error.action }
    };
    if (error.step)
        json["step"] = *error.step;
    return json;
}

std::string textOf(const nlohmann::json& json, const char* key)
{
    const auto at = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

Error errorFromJson(const nlohmann::json& json)
{
    Error error;
    error.code = parseCode(textOf(json, "code")).value_or(Code::Internal);
    error.text = textOf(json, "text");
    error.where = textOf(json, "where");
    error.action = textOf(json, "action");
    if (!json.is_object())
        return error;
    if (const auto step = json.find("step"); step != json.end() && step->is_number_integer())
        error.step = step->get<std::int64_t>();
    return error;
}

} // namespace deltascope
