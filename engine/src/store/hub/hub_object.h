#pragma once

#include "deltascope/engine/object_store.h"
#include "hub_json.h"
#include "store/xet/hash.h"

#include <optional>
#include <string>
#include <string_view>

namespace deltascope::hub {

/// What identifies the bytes of a file, as text "KIND:HASH:SIZE:TIME": "xet" and the Xet hash, "lfs" and a SHA-256,
/// "git" and the id of a blob, or "file" without a hash. TIME is when the Hub got it ("uploadedAt"; empty in
/// repositories), so that a key that is written again with the same bytes is a new object.
struct HubIdentity {
    std::string xetHash;
    std::string lfsSha256;
    std::string gitId;
    std::uint64_t sizeBytes = 0;
    std::string time;

    static HubIdentity of(const HubFile& file);
    /// Nothing for what text() does not write.
    static std::optional<HubIdentity> parse(std::string_view text);
    std::string text() const;
    std::optional<xet::Hash> xet() const { return xet::Hash::parse(xetHash); }

    bool operator==(const HubIdentity&) const = default;
};

/// `key` is what of its path stands below the prefix of the store. `fallbackUs`: the time of what has none.
ObjectInfo objectOf(const HubFile& file, std::string key, std::int64_t fallbackUs);

/// Keys of a store and paths of a bucket or repository.
class KeyMap {
public:
    /// `prefix` without slashes at its ends.
    explicit KeyMap(const std::string& prefix)
        : m_front(prefix.empty() ? "" : prefix + "/")
    {
    }
    std::string pathOf(std::string_view key) const { return m_front + std::string(key); }
    /// `path` begins with the prefix.
    std::string keyOf(const std::string& path) const { return path.substr(m_front.size()); }
    bool holds(std::string_view path) const { return path.starts_with(m_front) && path.size() > m_front.size(); }

private:
    std::string m_front;
};

} // namespace deltascope::hub
