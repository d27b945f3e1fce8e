#include "pages/lineage/chain_painter.h"

#include "look/icon.h"
#include "look/tokens.h"

#include <QPainter>

namespace deltascope::desktop {

namespace {

constexpr int FirstLane = 24;
constexpr int LaneDistance = 24;
constexpr double Dimmed = 0.35;

/// Opaque, so that no line shows through a mark.
QColor dimmed(const QColor& ink, const QColor& ground)
{
    const auto mix = [](float x, float y) {
        return static_cast<float>(Dimmed) * x + static_cast<float>(1 - Dimmed) * y;
    };
    return QColor::fromRgbF(mix(ink.redF(), ground.redF()), mix(ink.greenF(), ground.greenF()),
                            mix(ink.blueF(), ground.blueF()));
}

void paintCross(QPainter& painter, QPointF at, double size)
{
    painter.drawLine(QPointF(at.x() - size, at.y() - size), QPointF(at.x() + size, at.y() + size));
    painter.drawLine(QPointF(at.x() - size, at.y() + size), QPointF(at.x() + size, at.y() - size));
}

void paintHalf(QPainter& painter, LineageLines::Half half, double top, double bottom, int left)
{
    for (int lane = 0; lane < MostLanes; ++lane) {
        const unsigned bit = 1U << lane;
        if (((half.solid | half.dashed) & bit) == 0)
            continue;
        QPen pen(color(Token::OtherSeries), 1.5);
        if ((half.solid & bit) == 0)
            pen.setDashPattern({ 2, 2 });
        painter.setPen(pen);
        painter.drawLine(QPointF(left + laneX(lane), top), QPointF(left + laneX(lane), bottom));
    }
}

struct Cell {
    double left, top, middle, bottom;
};

/// Lines of one lane: from the row to the side, down there, and back to what the row builds on.
void paintBrackets(QPainter& painter, const Cell& cell, const LineageBrackets::Strokes& strokes, double x, int lane)
{
    constexpr double Mark = 5; // from the middle of a row to where its mark ends
    for (int track = 0; track < LineageBrackets::Tracks; ++track) {
        const unsigned bit = 1U << LineageBrackets::bit(lane, track);
        const double side = x + 8 + 2 * track;
        if (((strokes.above & ~strokes.ends) & bit) != 0)
            painter.drawLine(QPointF(side, cell.top), QPointF(side, cell.middle));
        if (((strokes.below & ~strokes.begins) & bit) != 0)
            painter.drawLine(QPointF(side, cell.middle), QPointF(side, cell.bottom));
        if ((strokes.begins & bit) != 0)
            painter.drawPolyline(QPolygonF { QPointF(x + Mark, cell.middle + 2), QPointF(side, cell.middle + Mark),
                                             QPointF(side, cell.bottom) });
        if ((strokes.ends & bit) != 0)
            painter.drawPolyline(QPolygonF { QPointF(x + Mark, cell.middle - 2), QPointF(side, cell.middle - Mark),
                                             QPointF(side, cell.top) });
    }
}

void paintOtherWays(QPainter& painter, const Cell& cell, const LineageBrackets::Strokes& strokes, double x,
                    bool isUsable)
{
    if (strokes.isEmpty())
        return;
    QPen pen(color(isUsable ? Token::Muted : Token::Error), 1);
    if (!isUsable)
        pen.setDashPattern({ 2, 2 });
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    for (int lane = 0; lane < MostLanes; ++lane)
        paintBrackets(painter, cell, strokes, cell.left + laneX(lane), lane);
    if (strokes.diamond)
        paintOpenDiamond(painter, QPointF(x + 12, cell.middle));
}

void paintPath(QPainter& painter, const Cell& cell, const ShownPath& path, std::size_t line)
{
    painter.setPen(QPen(color(Token::Accent), 3, Qt::SolidLine, Qt::FlatCap));
    const auto draw = [&](std::optional<int> lane, double from, double to) {
        if (lane)
            painter.drawLine(QPointF(cell.left + laneX(*lane), from), QPointF(cell.left + laneX(*lane), to));
    };
    draw(path.above(line), cell.top, cell.middle);
    draw(path.below(line), cell.middle, cell.bottom);
}

/// Where one chain ends and the one before it begins.
void paintBoundary(QPainter& painter, double x, const Cell& cell)
{
    painter.setPen(QPen(color(Token::OtherSeries), 1));
    for (const double side : { -1.5, 1.5 })
        painter.drawLine(QPointF(x + side, cell.middle + 8), QPointF(x + side, cell.bottom));
}

void paintFold(QPainter& painter, double x, const Cell& cell, const QColor& ink)
{
    QPen pen(ink, 2, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({ 1, 1.5 });
    painter.setPen(pen);
    painter.drawLine(QPointF(x, cell.top + 3), QPointF(x, cell.bottom - 2));
}

}

int laneX(int lane) { return FirstLane + std::min(lane, MostLanes - 1) * LaneDistance; }
int chainWidth(int lanes) { return laneX(std::max(0, lanes - 1)) + LaneDistance; }

void paintOpenDiamond(QPainter& painter, QPointF at)
{
    constexpr double Half = 4;
    painter.drawPolygon(QPolygonF { QPointF(at.x(), at.y() - Half), QPointF(at.x() + Half, at.y()),
                                    QPointF(at.x(), at.y() + Half), QPointF(at.x() - Half, at.y()) });
}

void paintBrokenMark(QPainter& painter, QPointF at)
{
    painter.fillRect(QRectF(at.x() - 6, at.y() - 6, 12, 12), painter.background().color());
    painter.setPen(QPen(color(Token::Error), 2));
    paintCross(painter, at, 4.5);
}

void paintStepMark(QPainter& painter, const app::StepView& step, QPointF at, const QColor& ink, bool large)
{
    const QColor ground = painter.background().color();
    if (isHole(step)) {
        painter.setPen(QPen(color(Token::Error), 1.5));
        painter.setBrush(ground);
        painter.drawEllipse(at, 4.5, 4.5);
    } else if (step.kind == "anchor" || step.kind == "partial_anchor") {
        const double half = large ? 8 : 7;
        painter.setPen(step.kind == "anchor" ? QPen(Qt::NoPen) : QPen(ink, 1.5));
        painter.setBrush(step.kind == "anchor" ? ink : ground);
        painter.drawPolygon(QPolygonF { QPointF(at.x(), at.y() - half), QPointF(at.x() + half, at.y()),
                                        QPointF(at.x(), at.y() + half), QPointF(at.x() - half, at.y()) });
    } else {
        const double radius = large ? 6 : 4.5;
        const bool open = step.state == "publishing" || step.state == "noop";
        painter.setPen(open ? QPen(ink, 1.5) : QPen(Qt::NoPen));
        painter.setBrush(open ? ground : ink);
        painter.drawEllipse(at, radius, radius);
    }
}

void paintRestartMark(QPainter& painter, QPointF at)
{
    const QPixmap mark =
        iconPixmap(QStringLiteral("undo"), color(Token::Text), 16, painter.device()->devicePixelRatioF());
    painter.drawPixmap(QPointF(at.x() - 8, at.y() - 8), mark);
}

void paintChain(QPainter& painter, const QRect& cell, const LineageModel& model, int line, const ShownPath& hovered)
{
    const auto at = static_cast<std::size_t>(line);
    const LineageItem& item = model.item(line);
    const LineagePicture& picture = *model.picture();
    const Cell place { static_cast<double>(cell.left()), static_cast<double>(cell.top()),
                       cell.top() + cell.height() / 2.0, static_cast<double>(cell.bottom() + 1) };
    const ShownPath& path = model.path();
    const bool onPath = path.hasNode(at) || hovered.hasNode(at);
    painter.save();
    painter.setClipRect(cell);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!hovered.isEmpty())
        painter.setOpacity(Dimmed);
    paintHalf(painter, model.lines().above(at), place.top, place.middle, cell.left());
    paintHalf(painter, model.lines().below(at), place.middle, place.bottom, cell.left());
    const app::LineageRowView& row = picture.rows()[item.row];
    const double x = place.left + laneX(item.kind == LineageItem::Kind::Restart ? 0 : LineageLines::laneOf(row));
    const bool older = line + 1 < model.rowCount() && model.item(line + 1).row <= picture.chains()[item.chain].to;
    if (item.kind == LineageItem::Kind::Row && isAnchor(*row.step) && older)
        paintBoundary(painter, x, place);
    paintOtherWays(painter, place, model.brackets().broken(at), x, false);
    paintOtherWays(painter, place, model.brackets().usable(at), x, true);
    painter.setOpacity(1);
    if (!hovered.isEmpty())
        paintPath(painter, place, hovered, at);
    paintPath(painter, place, path, at);
    QColor ink = color(onPath ? Token::Accent : isLost(row) ? Token::OtherSeries : Token::Text);
    if (!hovered.isEmpty() && !onPath)
        ink = dimmed(ink, painter.background().color());
    switch (item.kind) {
    case LineageItem::Kind::Row:
        if (isBroken(row))
            paintBrokenMark(painter, QPointF(x, place.middle));
        else
            paintStepMark(painter, *row.step, QPointF(x, place.middle), ink, model.b() == item.row);
        break;
    case LineageItem::Kind::Fold:
        paintFold(painter, x, place, ink);
        break;
    case LineageItem::Kind::Restart:
        paintRestartMark(painter, QPointF(x, place.middle));
        break;
    }
    painter.restore();
}

} // namespace deltascope::desktop
