#pragma once

#include "pages/lineage/lineage_model.h"

class QPainter;
class QRect;

namespace deltascope::desktop {

/// x of a lane in the chain column.
int laneX(int lane);
/// What the chain column needs for that many lanes.
int chainWidth(int lanes);

/// ◆ anchor, ● delta, ○ hole, around a point. For rows and for the legend.
void paintStepMark(QPainter& painter, const app::StepView& step, QPointF at, const QColor& ink, bool large);
/// A complete form beside a row, in the pen of the painter.
void paintOpenDiamond(QPainter& painter, QPointF at);
void paintBrokenMark(QPainter& painter, QPointF at);
void paintRestartMark(QPainter& painter, QPointF at);

/// Paints the chain column of one line. `hovered`: path of the line under the mouse; empty: none. What is on no path
/// is dimmed while there is one.
void paintChain(QPainter& painter, const QRect& cell, const LineageModel& model, int line, const ShownPath& hovered);

} // namespace deltascope::desktop
