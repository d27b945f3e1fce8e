#pragma once

#include "checked_files.h"
#include "deltascope/engine/operations.h"

#include <string>
#include <vector>

namespace deltascope {

/// Names of the trainer's own files (isTrainerState) beside the complete state that a rebuild begins with.
Result<std::vector<std::string>> trainerFilesOf(const Run& run, const Plan& plan, TaskContext& task);

/// The trainer's own files of a step, which copyTrainerState() copies; empty where the step is no checkpoint by itself.
Result<std::vector<ObjectInfo>> trainerObjectsOf(const Run& run, const Version& version, const Plan& plan,
                                                 TaskContext& task);

/// What training goes on with, beside the weights.
struct TrainerState {
    std::vector<std::string> names; ///< files that were copied
    /// What a trainer resumes with and the source does not have of this step: "optimizer", "scheduler", "random state",
    /// "trainer state".
    std::vector<std::string> missing;
};

/// Copies the trainer's files of a step into the folder of its rebuild, and reads them back. They are there where the
/// step is a checkpoint by itself; those beside an earlier checkpoint belong to another step. Errors: those of
/// CheckedFiles::read and of the disk, Digest (a copy reads back otherwise than it was written).
Result<TrainerState> copyTrainerState(FileSystem& disk, CheckedFiles& files, const Run& run, const Version& version,
                                      const Plan& plan, const std::string& folder, TaskContext& task);

} // namespace deltascope
