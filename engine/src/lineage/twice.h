#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// Whether a version stands for two objects of one number of which its writers publish one alone, so that one of them
/// may be of another run: a layout notes that (Fork) where it gives the second one as another form.
bool existsTwice(const VersionObjects& version);

} // namespace deltascope
