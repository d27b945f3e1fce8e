#include "store/xet/xorb_grant.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace deltascope::xet {

namespace {

tl::unexpected<Error> badGrant() { return fail(Code::Hostile, "the store grants an address that makes no sense"); }

/// Ids become part of a path.
bool isPathSafe(std::string_view id)
{
    return !id.empty() && id.size() <= 256 && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    });
}

}

Result<XorbGrant> parseXorbGrant(std::string_view text)
{
    const nlohmann::json grant = nlohmann::json::parse(text, nullptr, false);
    const auto member = [&grant](const char* name) {
        const auto at = grant.find(name);
        return at != grant.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (!grant.is_object())
        return badGrant();
    XorbGrant out { member("id"), member("method"), member("url"), {} };
    if (!isPathSafe(out.id) || (out.method != "PUT" && out.method != "POST") || out.url.empty())
        return badGrant();
    const auto headers = grant.find("headers");
    if (headers == grant.end() || headers->is_null())
        return out;
    if (!headers->is_object())
        return badGrant();
    for (const auto& header : headers->items()) {
        if (!header.value().is_string())
            return badGrant();
        out.headers.add(header.key(), header.value().get<std::string>());
    }
    return out;
}

} // namespace deltascope::xet
