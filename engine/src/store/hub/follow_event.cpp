#include "follow_event.h"

#include "hub_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace deltascope::hub {

namespace {

constexpr std::size_t MostCursorBytes = 4096;

/// Fills cursor and paths of Changes; false: they are not what they should be.
bool readChanges(const nlohmann::json& payload, FollowEvent& event)
{
    const auto changes = payload.find("changes");
    if (!event.cursor || changes == payload.end() || !changes->is_array())
        return false;
    for (const nlohmann::json& change : *changes) {
        bool isWrong = !change.is_object();
        const std::string op = isWrong ? "" : optionalText(change, "op", isWrong).value_or("");
        std::string path = isWrong ? "" : optionalText(change, "path", isWrong).value_or("");
        if (isWrong || path.empty() || (op != "add" && op != "update" && op != "delete"))
            return false;
        event.paths.push_back(std::move(path));
    }
    return true;
}

} // namespace

FollowEvent parseFollowEvent(const ServerEvent& event)
{
    const bool isBlank = event.data.find_first_not_of(" \t\r\n") == std::string::npos;
    const nlohmann::json payload = isBlank ? nlohmann::json::object() : parseHubJson(event.data);
    FollowEvent read;
    if (!payload.is_object())
        return read;
    bool isWrong = false;
    read.cursor = optionalText(payload, "cursor", isWrong);
    if (isWrong || (read.cursor && (read.cursor->empty() || read.cursor->size() > MostCursorBytes)))
        read.cursor.reset();
    if (event.name == "ready")
        read.kind = FollowEvent::Kind::Ready;
    else if (event.name == "reset")
        read.kind = FollowEvent::Kind::Reset;
    else if (event.name == "reconnect")
        read.kind = FollowEvent::Kind::Reconnect;
    else if (event.name == "changes" && readChanges(payload, read))
        read.kind = FollowEvent::Kind::Changes;
    if (read.kind == FollowEvent::Kind::Other)
        read.paths.clear();
    return read;
}

bool concerns(const FollowEvent& event, std::string_view front)
{
    return std::any_of(event.paths.begin(), event.paths.end(),
                       [&](const std::string& path) { return path.starts_with(front); });
}

} // namespace deltascope::hub
