#pragma once

#include "checked_files.h"
#include "deltascope/engine/operations.h"

#include <string>
#include <vector>

namespace deltascope {

/// What became of the files beside the weights.
struct Sidecars {
    std::vector<std::string> names; ///< that were copied
    std::vector<Error> leftOut;
};

/// Copies config and tokenizer files into the folder of a rebuild: those beside the complete state that it begins with,
/// then those of the external base, then, where plain checkpoints have no config beside them, those in the folders
/// above or with another checkpoint of the run, then those of `extra` (null: none); of one name the first. Errors:
/// those of CheckedFiles::read and of the disk.
Result<Sidecars> copySidecars(FileSystem& disk, CheckedFiles& files, const Run& run, const Plan& plan,
                              const std::string& folder, const std::shared_ptr<const ObjectStore>& extra,
                              TaskContext& task);

/// Files of the external base that are copied beside a rebuild along the plan.
std::vector<ObjectInfo> sidecarsOfBase(const Run& run, const Plan& plan);

} // namespace deltascope
