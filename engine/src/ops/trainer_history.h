#pragma once

#include "deltascope/engine/layout.h"
#include "kinship.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// What Trainer logged up to a checkpoint: for each entry its step and all of it as JSON. Source:
/// transformers.TrainerState.save_to_json (`log_history`).
using TrainerHistory = std::vector<std::pair<std::int64_t, std::string>>;

/// The history beside a version, or in the folder above its weights; empty where there is none that can be read.
/// Errors: Canceled and those that concern the store.
Result<TrainerHistory> trainerHistoryOf(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                        const VersionObjects& version, TaskContext& task);

/// Whether two checkpoints are of one run: the history of the one with the lower number is a beginning of the other
/// one's. Two runs where entries of the same step differ. Else nothing is known.
Kinship compareHistories(const TrainerHistory& lower, const TrainerHistory& higher);

} // namespace deltascope
