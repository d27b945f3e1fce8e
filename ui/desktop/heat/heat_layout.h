#pragma once

#include <QRect>

namespace deltascope::desktop {

/// Where the parts of the heatmap lie on its canvas. Pixels.
struct HeatLayout {
    QRect lanes; ///< anchors and alerts, verified, pause
    QRect steps; ///< labels of the steps
    QRect tree;
    QRect plot;
    QRect gutter; ///< mean per row
    QRect legend; ///< the bar; labels stand at its right
    QRect status; ///< one line about a cell
    QRect overview; ///< the whole run

    static HeatLayout of(const QSize& size); ///< GUI thread
};

} // namespace deltascope::desktop
