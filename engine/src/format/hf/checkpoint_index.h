#pragma once

#include "deltascope/base/task.h"
#include "deltascope/engine/layout.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/index_json.h"

#include <functional>
#include <string_view>

namespace deltascope {

inline constexpr std::string_view CheckpointIndexName = "model.safetensors.index.json";
inline constexpr std::string_view CheckpointFileName = "model.safetensors";

/// Reads the headers of a complete checkpoint, the files of which lie in `folder` (empty: the root of the source) and
/// are among `version.objects`: one model.safetensors, or the files that the index names. Errors: Unfinished (neither
/// of them, a torn index, or a file of it is missing), Truncated (a file is cut), Malformed (the index names a tensor
/// that its file lacks; a file is something else), Hostile, DuplicateName, Unsupported (the index is one of a delta),
/// and those of the store.
Result<VersionIndex> readCheckpointIndex(const ObjectStore& store, const VersionObjects& version,
                                         std::string_view folder, TaskContext& task);

/// The same with an index that was read before. `seen`: told the header of every file, if given.
Result<VersionIndex> readShardedIndex(const ObjectStore& store, const VersionObjects& version, std::string_view folder,
                                      const IndexJson& index, TaskContext& task,
                                      const std::function<void(const SafetensorsHeader&)>& seen = {});

/// The error for a file that an index names and that does not exist (yet).
Error missingFile(std::string_view folder, std::string_view file);

/// What to say of a data file beside an index that does not name it: MissingTensor if it holds a tensor that the index
/// does not find elsewhere, else Stray.
Error unmappedFile(const ObjectStore& store, const ObjectInfo& object, const IndexJson& index, TaskContext& task);

/// "model-00001-of-00002.safetensors", and "model-00001.safetensors" as some writers name it until all are there.
bool isShardName(std::string_view file) noexcept;

} // namespace deltascope
