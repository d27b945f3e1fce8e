#pragma once

#include "heat/heat_model.h"

#include <QPainter>

#include <vector>

namespace deltascope::desktop {

/// The past of one row in the columns that are in view, small: shown at its mean in the gutter.
struct RowSpark {
    static constexpr int Width = 160;

    int row = -1; ///< -1: none
    std::vector<double> shares; ///< one per pixel, the highest of its columns; negative: not known
    double most = 0;
};

RowSpark makeRowSpark(const HeatModel& model, int row, app::HeatPool pool);
/// The box that it takes beside the gutter.
QRect sparkBox(const QRect& gutter, const HeatModel& model, const RowSpark& spark);
void paintRowSpark(QPainter& painter, const QRect& box, const HeatModel& model, const RowSpark& spark);

} // namespace deltascope::desktop
