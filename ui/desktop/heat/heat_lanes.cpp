#include "heat/heat_frame.h"
#include "look/look.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

// The lanes above the cells: anchors and alerts, what is verified, pauses.

namespace deltascope::desktop {

namespace {

constexpr int LaneHeight = 12;
constexpr int CrossCheck = 4; ///< the level whose marks are solid

/// The worst of what several columns say.
LaneMark merged(const std::vector<LaneMark>& lanes, int from, int to)
{
    LaneMark mark = lanes[static_cast<std::size_t>(from)];
    for (int at = from + 1; at < to; ++at) {
        const LaneMark& next = lanes[static_cast<std::size_t>(at)];
        mark.anchor = mark.anchor || next.anchor;
        mark.damaged = mark.damaged || next.damaged;
        mark.alert = mark.alert || next.alert;
        if (mark.word.isEmpty())
            mark.word = next.word;
        mark.verified = std::min(mark.verified, next.verified);
        mark.pauseMs = std::max(mark.pauseMs, next.pauseMs);
    }
    return mark;
}

void flag(QPainter& painter, double x, double y)
{
    painter.fillRect(QRectF(x - 3, y - 4, 1.2, 9), color(Token::Text));
    painter.fillRect(QRectF(x - 2, y - 4, 6, 4), color(Token::Text));
}

void diamond(QPainter& painter, double x, double y)
{
    constexpr double Half = 4;
    const QPointF corners[] = { { x, y - Half }, { x + Half, y }, { x, y + Half }, { x - Half, y } };
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(Token::Text));
    painter.drawConvexPolygon(corners, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void cross(QPainter& painter, double x, double y)
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color(Token::Error), 1.8));
    painter.drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3));
    painter.drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3));
    painter.setRenderHint(QPainter::Antialiasing, false);
}

}

void paintLanes(QPainter& painter, const QRect& box, const HeatModel& model)
{
    if (model.isEmpty())
        return;
    painter.save();
    QFont font = typeFont(Type::Label);
    painter.setFont(font);
    painter.setPen(color(Token::Muted));
    const QString names[] = { QCoreApplication::translate("Heatmap", "anchors, words, alerts"),
                              QCoreApplication::translate("Heatmap", "verified"),
                              QCoreApplication::translate("Heatmap", "pause") };
    for (int i = 0; i < 3; ++i)
        painter.drawText(QRect(0, box.y() + i * LaneHeight - 4, box.x() - 8, LaneHeight + 8),
                         Qt::AlignRight | Qt::AlignVCenter, names[i]);
    painter.setClipRect(box.adjusted(-5, -2, 5, 0), Qt::IntersectClip);
    const HeatPlan& plan = *model.plan();
    const Axis& axis = model.axis();
    const int every = std::max(1, static_cast<int>(std::lround(1 / axis.cell))); // columns that share a pixel
    const int end = std::min(plan.columns, static_cast<int>(std::ceil(axis.first + axis.seen())));
    double free = -1e9; // right end of the last mark
    for (int at = static_cast<int>(std::max(0.0, axis.first)) / every * every; at < end; at += every) {
        const LaneMark mark = merged(plan.lanes, at, std::min(plan.columns, at + every));
        const double x = box.x() + axis.toPixel(at);
        const double width = std::max(1.0, axis.cell * every - (axis.cell > 3 ? 1 : 0));
        const double middle = x + axis.cell * every / 2;
        if (mark.alert && middle > free) {
            flag(painter, middle, box.y() + 6);
            free = middle + 9;
        } else if (!mark.word.isEmpty() && middle > free) {
            const double wide = painter.fontMetrics().horizontalAdvance(mark.word);
            painter.setPen(color(Token::Accent));
            painter.fillRect(QRectF(middle - 0.6, box.y() + 1, 1.2, 11), color(Token::Accent));
            painter.drawText(QPointF(middle + 3, box.y() + 10), mark.word);
            free = middle + wide + 6;
        } else if (mark.anchor && middle > free) {
            diamond(painter, middle, box.y() + 6);
            free = middle + 8;
        }
        if (mark.damaged) {
            cross(painter, middle, box.y() + 18);
        } else if (mark.verified >= 0) {
            QColor fill = color(Token::Accent);
            fill.setAlphaF(mark.verified >= CrossCheck ? 1.0F : 0.55F);
            painter.fillRect(QRectF(x, box.y() + 15, width, 5), fill);
        }
        if (mark.pauseMs > 0) {
            const double height = std::max(1.0, mark.pauseMs / plan.longestPauseMs * (LaneHeight - 1));
            painter.fillRect(QRectF(x, box.y() + 35 - height, width, height), color(Token::Pause));
        }
    }
    painter.restore();
}

} // namespace deltascope::desktop
