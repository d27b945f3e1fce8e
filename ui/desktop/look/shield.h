#pragma once

#include "deltascope/app/view/summary_view.h"

#include <QPixmap>

#include <optional>

namespace deltascope::desktop {

/// A shield with the level of a verification: gray and empty if there was none, in the accent if it passed, dashed if
/// it proves nothing, a cross in the color of errors if it failed. GUI thread.
QPixmap shieldPixmap(const std::optional<app::VerifiedView>& verified, int side, qreal ratio);

} // namespace deltascope::desktop
