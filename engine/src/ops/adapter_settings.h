#pragma once

#include "deltascope/engine/operations.h"

#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The settings that two texts of adapter_config.json do not share, by name, of those that change what an adapter does.
/// The order of keys, and of modules in a list, is no difference, and a setting that is off equals one that is not
/// given. Errors: Hostile (no JSON object), with `whereA` or `whereB`.
Result<std::vector<SettingDiff>> settingsThatDiffer(std::string_view a, std::string_view b, std::string_view whereA,
                                                    std::string_view whereB);

/// Whether the tensors of a state are those of adapters alone (PEFT), by their names or by the checkpoint that it
/// begins with.
bool holdsAdapter(const State& state);

/// "A is an adapter (PEFT, /runs/lora) and B is a model"; `isA`: which of both.
std::string oneAdapterText(const State& a, const State& b, bool isA);

struct AdapterComparison {
    std::vector<SettingDiff> settings; ///< that differ
    std::string note; ///< as DiffReport::adapters
};
/// Compares the settings of two states, as far as they are adapters. Errors: Malformed (no JSON object), those of
/// reading it.
Result<AdapterComparison> compareAdapters(const State& a, const State& b, TaskContext& task);

} // namespace deltascope
