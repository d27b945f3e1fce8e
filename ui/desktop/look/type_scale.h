#pragma once

namespace deltascope::desktop {

/// How large type is against its usual size, for screens that are read from afar; applyLook() has to follow. GUI thread.
void setTypeScale(double times);

} // namespace deltascope::desktop
