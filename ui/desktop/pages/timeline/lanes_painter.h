#pragma once

#include "pages/timeline/timeline_model.h"

#include <QRectF>

class QPainter;

namespace deltascope::desktop {

/// What there is to paint: a lane per actor over wall clock.
struct LaneScene {
    TimelinePointer model;
    TimeWindow window;
    std::optional<std::int64_t> selected; ///< step
    QRectF plot; ///< right of the names, below the times
    double laneHeight = 56;
    std::int64_t nowUs = 0;

    double toPixel(double us) const;
    double toUs(double x) const;
    double top(std::size_t lane) const { return plot.top() + static_cast<double>(lane) * laneHeight; }
    int laneAt(double y) const; ///< -1: none
    /// Null: none.
    const app::SpanView* spanAt(const QPointF& point) const;
};

QRectF lanePlot(double width, double laneHeight, std::size_t count); ///< where the lanes are
/// How high each of `count` lanes is in a canvas of some height.
double laneHeightFor(double height, std::size_t count);
int leastLanesHeight(std::size_t count); ///< of the whole canvas
void paintLanes(QPainter& painter, const LaneScene& scene);

} // namespace deltascope::desktop
