#pragma once

#include "bundle/bundle.h"

#include <string>

namespace deltascope::cli {

/// The bundle that export wrote, and what is not in it.
std::string bundleText(const bundle::BundleView& view);

} // namespace deltascope::cli
