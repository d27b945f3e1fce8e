#pragma once

#include "heat/heat_layout.h"
#include "heat/heat_model.h"
#include "heat/heat_picture.h"

#include <QPainter>
#include <QString>

namespace deltascope::desktop {

/// Columns that are marked; -1: none.
struct HeatMarks {
    int a = -1;
    int b = -1;
};

/// One line about a cell.
struct CellText {
    QString name;
    QString step;
    QString share;
    QString counts; ///< exact; empty until they are known
    QString tensor; ///< type and shape
    QString hint; ///< at the right, if there is room
};

// What stands around the cells of the heatmap. Each paints into its box and leaves the painter as it was.

void paintTree(QPainter& painter, const QRect& box, const HeatModel& model);
void paintLanes(QPainter& painter, const QRect& box, const HeatModel& model);
/// Step numbers at round steps, and tags with those of A and B.
void paintSteps(QPainter& painter, const QRect& box, const HeatModel& model, const HeatMarks& marks);
/// Mean share per step of each row, as a bar; its scale stands above it.
void paintGutter(QPainter& painter, const QRect& box, const HeatModel& model);
/// Upright, with what zero and unknown look like below it.
void paintLegend(QPainter& painter, const QRect& bar, const HeatColors& colors);
void paintStatus(QPainter& painter, const QRect& box, const CellText& text);
/// The whole run in one line and a frame around what is in view. `strip`: one pixel per stretch of columns.
void paintOverview(QPainter& painter, const QRect& box, const HeatModel& model, const QImage& strip);

/// A column marked from top to bottom.
void paintColumnMark(QPainter& painter, const QRect& box, const HeatModel& model, int column, bool dashed);
void paintCellCursor(QPainter& painter, const QRect& box, const HeatModel& model);

} // namespace deltascope::desktop
