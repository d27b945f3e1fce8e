#pragma once

#include "deltascope/app/acts.h"
#include "deltascope/app/view/run_view.h"

#include <QString>

#include <optional>
#include <string_view>
#include <vector>

namespace deltascope::desktop {

// What the registry of acts says of one kind. Pure.

/// Nothing: there is no such act.
std::optional<app::ActInfo> actInfo(std::string_view kind);
bool actHasField(std::string_view kind, std::string_view field);
bool asksForStep(const app::ActInfo& act); ///< it is about one step
QString actWords(std::string_view words); ///< title, label or help of an act
QString actionOf(std::string_view kind); ///< "act.pin": id of the action that opens its sheet
/// Whether the window has a sheet of its own for it; all others get one that is made from their fields.
bool hasOwnSheet(std::string_view kind);
/// Of resources/icons.
QString actIcon(std::string_view kind);

/// An act on a step that writes to its run, for menus.
struct StepAct {
    QString text; ///< "Roll back to step 12…"
    QString id; ///< of the action
    bool enabled = false;
};
std::vector<StepAct> stepActs(const app::StepView& step);

} // namespace deltascope::desktop
