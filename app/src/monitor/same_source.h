#pragma once

#include "deltascope/app/service.h"

namespace deltascope::app {

/// A request with one spelling for each folder: the absolute path, without links, "." and "..", slashes at the end, and
/// file://, as the catalog and the records know it, too. What does not exist is spelled as far as it does. Looks at the
/// disk.
SourceRequest canonical(SourceRequest request);

/// Whether two requests mean the same run on the same base. Looks at the disk.
bool isSameSource(const SourceRequest& a, const SourceRequest& b);

} // namespace deltascope::app
