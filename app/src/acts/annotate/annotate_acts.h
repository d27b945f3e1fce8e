#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Gives a step a word that stands for it in addresses, or moves the word.
Act refAct();
Act unrefAct();
/// Marks a step that is to be kept.
Act pinAct();
Act unpinAct();
/// Writes a sentence about a step.
Act noteAct();

} // namespace deltascope::app
