#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// What the names of folders say of checkpoints; their places: checkpoint_folders.h.

/// A name with its step taken out: the same for all folders of a run.
struct StepName {
    std::int64_t step = 0;
    std::string pattern; ///< "#" of "global_step_10", "#_hf" of "global_step10_hf"
};

/// Nothing for names without a step word and those of hidden and unfinished folders. Values of metrics ("val_loss=2.3")
/// and a "-last" at the end make no other pattern: NeMo writes both.
std::optional<StepName> stepNameOf(std::string_view component);

/// The number of a name that is nothing but a number, or "hf-" and a number. It is a step only among others of its
/// kind (countedSteps).
std::optional<StepName> countedNameOf(std::string_view component);

/// Hidden, or with a word such as "tmp" in it.
bool isUnfinishedName(std::string_view component);
/// Whether it is the name of a step but for the word that calls it unfinished: "tmp_step_10".
bool isUnfinishedStepName(std::string_view component);
/// The path up to its outermost component that is the name of an unfinished step; empty where there is none.
std::string_view unfinishedStepOf(std::string_view path);

/// Whether a model beside the one that is trained, or what is no model, is called so: critics, optimizers, averages.
bool namesOtherModel(std::string_view component);
/// The same for a folder that holds whole runs: "best" and "old" are common in the names of runs.
bool namesRunOfOtherModel(std::string_view component);
bool namesPolicy(std::string_view component); ///< the model that is trained
bool namesFormForLoaders(std::string_view component); ///< what other programs load: "huggingface"
bool namesModel(std::string_view component); ///< "model" or "weights"

std::vector<std::string_view> componentsOf(std::string_view path);

} // namespace deltascope
