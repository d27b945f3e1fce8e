#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

inline constexpr std::string_view SkyrlManifestName = "manifest.json";

/// Reads manifest and headers of the payload files. Errors: Unfinished (no manifest, a payload file is missing),
/// Truncated, Hostile, Unsupported (another checksum), those of the store.
Result<VersionIndex> readSkyrlManifest(const ObjectStore& store, const VersionObjects& version, TaskContext& task);

} // namespace deltascope
