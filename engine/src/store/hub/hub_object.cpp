#include "hub_object.h"

#include "deltascope/base/bytes.h"

#include <array>

namespace deltascope::hub {

HubIdentity HubIdentity::of(const HubFile& file)
{
    HubIdentity identity;
    identity.sizeBytes = file.sizeBytes;
    identity.time = file.uploadedAt;
    if (!file.xetHash.empty())
        identity.xetHash = file.xetHash;
    else if (!file.lfsSha256.empty())
        identity.lfsSha256 = file.lfsSha256;
    else
        identity.gitId = file.gitId;
    return identity;
}

std::string HubIdentity::text() const
{
    const char* const kind = !xetHash.empty() ? "xet:"
        : !lfsSha256.empty()                  ? "lfs:"
        : !gitId.empty()                      ? "git:"
                                              : "file:";
    return kind + xetHash + lfsSha256 + gitId + ":" + std::to_string(sizeBytes) + ":" + time;
}

std::optional<HubIdentity> HubIdentity::parse(std::string_view text)
{
    std::array<std::string_view, 3> parts;
    for (std::string_view& part : parts) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos)
            return std::nullopt;
        part = text.substr(0, colon);
        text.remove_prefix(colon + 1);
    }
    HubIdentity identity;
    identity.time = text;
    const auto size = parseNumber(parts[2]);
    if (!size)
        return std::nullopt;
    identity.sizeBytes = static_cast<std::uint64_t>(*size);
    if (parts[0] == "xet" && isHexText(parts[1], 64))
        identity.xetHash = parts[1];
    else if (parts[0] == "lfs" && isHexText(parts[1], 64))
        identity.lfsSha256 = parts[1];
    else if (parts[0] == "git" && (isHexText(parts[1], 40) || isHexText(parts[1], 64)))
        identity.gitId = parts[1];
    else if (parts[0] != "file" || !parts[1].empty())
        return std::nullopt;
    return identity;
}

ObjectInfo objectOf(const HubFile& file, std::string key, std::int64_t fallbackUs)
{
    ObjectInfo object;
    object.key = std::move(key);
    object.sizeBytes = file.sizeBytes;
    object.identity = HubIdentity::of(file).text();
    object.modifiedUs = isoTimeUs(file.uploadedAt).value_or(isoTimeUs(file.modifiedAt).value_or(fallbackUs));
    return object;
}

} // namespace deltascope::hub
