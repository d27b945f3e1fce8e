#pragma once

#include "deltascope/engine/layout.h"

#include <optional>
#include <string_view>

namespace deltascope {

/// Whether the trainer_state.json beside a checkpoint names another step than its folder: the folder was renamed, or
/// holds files of two saves. Nothing where there is none, where it names no step or where the folder has no number.
/// Source: transformers.TrainerState.save_to_json (`global_step`). Errors: Canceled and those that concern the store.
Result<std::optional<Error>> contradictingTrainerState(const ObjectStore& store, const VersionObjects& version,
                                                       std::string_view folder, TaskContext& task);

} // namespace deltascope
