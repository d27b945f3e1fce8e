#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

class PathState;
struct OpenVersion;

/// Which objects the bytes of each tensor of a chain come from. An object is a digest of its address, size and
/// identity: one that is written again has another digest. Immutable.
class TensorSources {
public:
    explicit TensorSources(const PathState& chain);

    /// Ascending, each once. Objects that hold no tensor (an index, a manifest) count for every tensor of their
    /// version.
    std::vector<std::uint64_t> of(std::string_view tensor) const;
    /// The object that an error names (Error::where); nothing if the chain reads no such object.
    std::optional<std::uint64_t> named(const std::string& where) const;

private:
    struct Link {
        const OpenVersion* version;
        std::vector<std::uint64_t> objects; ///< as VersionObjects::objects
        std::vector<std::uint64_t> common; ///< of every tensor
    };
    std::vector<Link> m_links;
    std::map<std::string, std::uint64_t> m_byName;
};

} // namespace deltascope
