#pragma once

#include "pages/timeline/timeline_model.h"
#include "plot/plot_axis.h"

#include <QFont>
#include <QRectF>

class QPainter;

namespace deltascope::desktop {

enum class BarUnit { Seconds, Percent };

/// What there is to paint: one bar per version, the pause at its bottom.
struct BarScene {
    TimelinePointer model;
    BarUnit unit = BarUnit::Seconds;
    bool ghost = true; ///< a line where a full sync would end
    std::optional<std::int64_t> selected; ///< step
    std::optional<std::int64_t> hovered;
    QRectF plot;
    ValueAxis axis;

    double cell() const; ///< pixels per slot
    /// Index of a slot; -1: none.
    int slotAt(double x) const;
    const app::BarView* bar(const BarSlot& slot) const;
    bool isGhostOff() const; ///< the full sync ends above the chart
};

QRectF barPlot(const QSizeF& size); ///< where the bars are
/// From the bars of the model and the unit.
ValueAxis makeBarAxis(const TimelineModel& model, BarUnit unit);
void paintBars(QPainter& painter, const BarScene& scene);

} // namespace deltascope::desktop
