#include "act_request_json.h"

#include "act_info_description.h"
#include "json_parts.h"

#include <fmt/format.h>
#include <limits>

namespace deltascope::app {

namespace {

Result<ActValue> valueOf(const std::string& name, const nlohmann::json& from)
{
    if (from.is_boolean())
        return ActValue(from.get<bool>());
    if (from.is_string())
        return ActValue(from.get<std::string>());
    const bool fits = from.is_number_integer()
        && (!from.is_number_unsigned() || from.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (fits)
        return ActValue(from.get<std::int64_t>());
    return fail(Code::Usage, fmt::format("\"{}\" has another type", name));
}

}

ordered_json jsonOf(const ActRequest& request)
{
    ordered_json args = ordered_json::object();
    for (const auto& [name, value] : request.args)
        args[name] = std::visit([](const auto& given) { return ordered_json(given); }, value);
    return { { "kind", request.kind }, { "args", std::move(args) } };
}

Result<ActRequest> readActRequest(const nlohmann::json& from)
{
    const auto kind = from.find("kind");
    if (kind == from.end() || !kind->is_string())
        return fail(Code::Usage, "\"kind\" is no text");
    ActRequest request { kind->get<std::string>(), {} };
    const auto args = from.find("args");
    if (args == from.end() || args->is_null())
        return request;
    if (!args->is_object())
        return fail(Code::Usage, "\"args\" is no JSON object");
    for (const auto& [name, value] : args->items()) {
        if (value.is_null()) // as if it were not there
            continue;
        DS_TRY(ActValue read, valueOf(name, value));
        request.args.emplace(name, std::move(read));
    }
    return request;
}

std::string toJson(const std::vector<ActInfo>& acts) { return dump({ { "acts", written(acts) } }); }

} // namespace deltascope::app
