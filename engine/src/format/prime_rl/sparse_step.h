#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/unpacked_object.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace deltascope {

inline constexpr std::string_view SparseManifestName = "sparse_manifest.json"; ///< branch of PR #2607
inline constexpr std::string_view SparseUpdateManifestName = "sparse_update_manifest.json"; ///< branch of PR #2823

/// What a sparse step keeps for its streams and checks.
struct PrimeRlDetail final : LayoutDetail {
    std::shared_ptr<UnpackedObject> packed; ///< the patch file where it is compressed; null otherwise
    /// Folds of positions and values, by name of the tensor.
    std::map<std::string, std::optional<std::uint64_t>, std::less<>> checksums;
};

/// Reads the manifest of either branch and the headers of its patch files. Nothing if the manifest says that the step
/// is full. Errors: Unfinished, Hostile, Unsupported, those of the store.
Result<std::optional<VersionIndex>> readSparseManifest(const ObjectStore& store, const VersionObjects& version,
                                                       TaskContext& task);
Result<VersionIndex> readSparseUpdateManifest(const ObjectStore& store, const VersionObjects& version,
                                              TaskContext& task);

} // namespace deltascope
