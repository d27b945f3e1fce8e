#pragma once

#include "deltascope/base/task.h"
#include "format/dcp/placed_tensor.h"

#include <string_view>
#include <vector>

namespace deltascope {

inline constexpr std::string_view MetadataFileName = ".metadata";

/// The error for data files without .metadata.
Error missingMetadata(std::string_view folder);

/// Reads .metadata and the headers of every item that it names. `folder` holds the files, which are among
/// `version.objects`. Tensors come in order of their names. docs/formats/dcp.md, sections 3 and 4.
/// Errors: Unfinished (no .metadata, or a file that it names is missing), Truncated, Malformed, Hostile, Unsupported,
/// those of the store.
Result<std::vector<PlacedTensor>> readDistcpItems(const ObjectStore& store, const VersionObjects& version,
                                                  std::string_view folder, TaskContext& task);

} // namespace deltascope
