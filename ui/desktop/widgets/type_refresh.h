#pragma once

class QWidget;

namespace deltascope::desktop {

/// Gives the labels below a widget the fonts of their roles anew, after setTypeScale(). GUI thread.
void refreshType(QWidget& root);

} // namespace deltascope::desktop
