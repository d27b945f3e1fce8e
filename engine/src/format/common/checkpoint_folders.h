#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/search_depth.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// Where trainers put complete checkpoints: "checkpoint-10", "global_step_10/actor/huggingface",
// "exports/global_step_10/policy", "checkpoint-10/pytorch_model_fsdp_0". docs/formats/hf.md, section 3.

/// The number behind the last step word of a name: 10 of "checkpoint-10", "global_step10_hf" and "epoch_1_step_10".
/// Nothing for other names and for those of unfinished folders ("tmp-checkpoint-10").
std::optional<std::int64_t> stepInName(std::string_view component);

/// The path up to its innermost component that gives this step: "a/step_10" of "a/step_10/policy/iter_0". Empty where
/// no component gives it.
/// Where none does it by a step word, one that is a number alone, or "hf-" and a number.
std::string_view stepFolderOf(std::string_view path, std::int64_t step);

/// The path up to its innermost component with a step word; empty where there is none.
std::string_view stepFolderOf(std::string_view path);

struct CheckpointFolder {
    std::int64_t step = 0;
    std::string folder; ///< empty: the source itself
};

/// The folders of one run, ascending by step, and what to say of models beside them that are not read.
struct CheckpointFolders {
    std::vector<CheckpointFolder> steps;
    std::optional<Error> beside;
};

/// Chooses among all folders of a source that hold weights. The step is the number of the innermost component with a
/// step word that varies; folders that differ in anything else belong to other runs. Inside a step the model is what
/// lies in the step's folder itself, else what is called a policy; critics, optimizers and averages in it are no steps.
/// Runs of those, and steps that are called so, are chosen only where nothing else is there. A source without steps is
/// step 0: the folder itself, else a policy in it. What is called unfinished is left out. `searchDepth`: components
/// between the folder of a step and its weights, at most.
CheckpointFolders chooseCheckpoints(const std::vector<std::string_view>& folders,
                                    std::size_t searchDepth = DefaultSearchDepth);

/// What the paths of a run to its weights have in common: "a/#/policy" of "a/step_10/policy".
std::string shapeOfRun(std::string_view path, std::int64_t step);

/// Whether a step, or a folder that holds its run, is called like a critic, an optimizer or an average.
bool liesAsOtherModel(std::string_view path, std::int64_t step);
/// Whether the step itself is: "checkpoint-10-ema".
bool isNamedAsOtherModel(std::string_view path, std::int64_t step);

} // namespace deltascope
