#pragma once

#include "deltascope/engine/operations.h"

#include <string_view>
#include <vector>

namespace deltascope {

/// The settings that two texts of adapter_config.json do not share, by name, of those that change what an adapter does.
/// The order of keys, and of modules in a list, is no difference, and a setting that is off equals one that is not
/// given. Errors: Hostile (no JSON object), with `whereA` or `whereB`.
Result<std::vector<SettingDiff>> settingsThatDiffer(std::string_view a, std::string_view b, std::string_view whereA,
                                                    std::string_view whereB);

/// The same for two states; nothing unless both are adapters that have a config. Errors: also those of reading it.
Result<std::vector<SettingDiff>> compareAdapterSettings(const State& a, const State& b, TaskContext& task);

} // namespace deltascope
