#include "deltascope/app/view/json.h"

#include "alert_description.h"
#include "json_parts.h"

namespace deltascope::app {

std::string word(AlertLevel level) { return std::string(AlertLevels.words[static_cast<std::size_t>(level)]); }

std::string word(AlertState state) { return std::string(AlertStates.words[static_cast<std::size_t>(state)]); }

std::string toJson(const AlertView& view) { return dump(written(view)); }

std::string toJson(const AlertListView& view) { return dump(written(view)); }

std::string toJson(const BacktestView& view) { return dump(written(view)); }

} // namespace deltascope::app
