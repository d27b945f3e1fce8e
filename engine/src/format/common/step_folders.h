#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/checkpoint_folders.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace deltascope {

// Layouts whose versions are whole folders: the source itself or numbered folders in it.

/// The version of a folder; an empty name stands for the source itself.
VersionObjects folderVersion(std::int64_t step, std::string_view folder, std::vector<ObjectInfo> objects);

/// The versions of the folders of a run, perhaps several of one step. What lies beside them is noted at the newest one.
/// A file "NAME-unfinished" beside the folder NAME of a version belongs to it. `objectsIn`: of a folder.
std::vector<VersionObjects> folderVersions(const std::vector<ObjectInfo>& listing, const CheckpointFolders& folders,
                                           const std::function<std::vector<ObjectInfo>(const std::string&)>& objectsIn);

/// That such a file says that the version is not finished; nothing where there is none.
std::optional<Error> markedUnfinished(const VersionObjects& version);

/// The folder of such a version, empty for the source itself.
std::string_view folderOf(const VersionObjects& version) noexcept;

/// Ascending by step. Where two folders give the same step, the one published later is the version, with a note.
std::vector<VersionObjects> onePerStep(std::vector<VersionObjects> versions);

} // namespace deltascope
