#pragma once

#include "deltascope/engine/layout.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace deltascope {

/// Versions ascending by step, each with its objects in order of their keys. `folders`: by name. Two folders of one
/// step (v5 and v05) are never one version (onePerStep).
std::vector<VersionObjects> inOrder(std::map<std::string_view, VersionObjects> folders);

/// "root/weight_v000007/file": version folders whose names are a fixed start and a number.
struct NumberedFolders {
    std::string_view start; ///< "weight_v"
    std::size_t minDigits = 1; ///< padded with zeros up to this

    struct Key {
        std::string_view root;
        std::string_view folder; ///< with the root
        std::string_view file; ///< directly in the folder
        std::int64_t step = 0;
    };
    /// Nothing for objects that lie elsewhere, and for our own.
    std::optional<Key> parse(std::string_view key) const;
    /// The root closest to that of the source; nothing if there is no such folder.
    std::optional<std::string_view> rootOf(const std::vector<ObjectInfo>& listing) const;
    /// One version for each folder below that root, ascending; leftovers of interrupted writes (".tmp") are left out.
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const;
};

} // namespace deltascope
