#pragma once

class QWidget;

namespace deltascope::desktop {

/// How large type is against its usual size, for screens that are read from afar: applies the look anew, also to fonts
/// that widgets below `root` have of their own. GUI thread.
void setTypeScale(double times, QWidget& root);

} // namespace deltascope::desktop
