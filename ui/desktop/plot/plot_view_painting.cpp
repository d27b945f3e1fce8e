#include "plot/plot_view.h"

#include "look/format.h"
#include "look/look.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

// What stands around the lines and bars of a chart.

void PlotView::paintGrid(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    const QFontMetrics metrics(painter.font());
    double free = HUGE_VAL; // labels end above this height
    for (const double tick : m_mapping.axis.ticks) {
        const double y = std::round(m_mapping.y(tick));
        const bool base = tick == m_mapping.axis.ticks.front();
        painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), color(base ? Token::StrongBorder : Token::Grid));
        if (y + metrics.height() / 2.0 > free)
            continue;
        painter.setPen(color(Token::Muted));
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, plot.left() - 8, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, m_mapping.axis.text(tick));
        free = y - metrics.height() / 2.0 - 2;
    }
}

/// The first and the last step, and round ones between them as far as there is room.
void PlotView::paintSteps(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    const QFontMetrics metrics(painter.font());
    const double each = plot.width() / (m_mapping.last - m_mapping.first);
    painter.setPen(color(Token::Muted));
    const double ticks = static_cast<double>(m_data.anchors.size()) * 6;
    for (const std::int64_t anchor : m_data.anchors) {
        if (ticks < plot.width())
            painter.fillRect(QRectF(std::round(m_mapping.x(static_cast<double>(anchor))), plot.bottom(), 1, 4),
                             color(Token::Muted));
    }
    const double top = plot.bottom() + 5;
    const auto text = [&](double left, const QString& label) {
        painter.drawText(QPointF(left, top + metrics.ascent()), label);
    };
    const auto [first, last] = m_data.range;
    const QString begin = tr("step %1").arg(first);
    const double beginWidth = metrics.horizontalAdvance(begin);
    text(plot.left(), begin);
    if (last == first)
        return;
    const QString end = QString::number(last);
    const double endWidth = metrics.horizontalAdvance(end);
    const double endLeft = std::min(plot.right() - endWidth, m_mapping.x(static_cast<double>(last)) - endWidth / 2);
    double free = plot.left() + beginWidth + 10;
    if (endLeft < free)
        return;
    text(endLeft, end);
    for (const std::int64_t tick : stepTicks(m_data.range, each, 80)) {
        const QString label = QString::number(tick);
        const double width = metrics.horizontalAdvance(label);
        const double left = m_mapping.x(static_cast<double>(tick)) - width / 2;
        if (left < free || left + width > endLeft - 10)
            continue;
        text(left, label);
        free = left + width + 10;
    }
}

/// Both ends of the range and round times between them.
void PlotView::paintTimes(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    const QFontMetrics metrics(painter.font());
    const double origin = m_x == PlotX::SinceStart ? m_mapping.clock->begin() : 0;
    const auto text = [&](double seconds) {
        if (m_x == PlotX::SinceStart)
            return QStringLiteral("+") + durationText(std::max(0.0, std::round(seconds - origin)));
        const auto us = static_cast<std::int64_t>(seconds * 1e6);
        return clockText(us, us);
    };
    const double from = m_mapping.clock->secondsAt(static_cast<double>(m_data.range.first));
    const double to = m_mapping.clock->secondsAt(static_cast<double>(m_data.range.second));
    const double baseline = plot.bottom() + 5 + metrics.ascent();
    const QString end = text(to);
    const double endLeft = plot.right() - metrics.horizontalAdvance(end);
    painter.setPen(color(Token::Muted));
    painter.drawText(QPointF(plot.left(), baseline), text(from));
    double free = plot.left() + metrics.horizontalAdvance(text(from)) + 10;
    if (endLeft < free)
        return;
    painter.drawText(QPointF(endLeft, baseline), end);
    const double seconds = m_mapping.lastSeconds - m_mapping.firstSeconds;
    const double each = roundTime(seconds / std::max(1.0, plot.width() / 90));
    for (double at = std::ceil((from - origin) / each) * each + origin; at < to; at += each) {
        const QString label = text(at);
        const double x = plot.left() + (at - m_mapping.firstSeconds) / seconds * plot.width();
        const double width = metrics.horizontalAdvance(label);
        painter.fillRect(QRectF(std::round(x), plot.bottom(), 1, 4), color(Token::Muted));
        if (x - width / 2 < free || x + width / 2 > endLeft - 10)
            continue;
        painter.drawText(QPointF(x - width / 2, baseline), label);
        free = x + width / 2 + 10;
    }
}

/// What ends above the chart says how high it is, and so does what is no number; as many as have room.
void PlotView::paintCut(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    const QFontMetrics metrics(painter.font());
    painter.setPen(color(Token::Text));
    std::vector<double> sums;
    double free = plot.left();
    for (const PlotSeries& series : m_data.series) {
        const app::SeriesColumns& columns = series.columns;
        const bool isLast = &series == &m_data.series.back();
        if (m_data.stacked)
            sums.resize(std::max(sums.size(), columns.x.size()), 0.0);
        for (std::size_t i = 0; i < columns.x.size(); ++i) {
            double value = columns.max[i];
            if (m_data.stacked)
                value = sums[i] += value;
            if (m_data.stacked && !isLast)
                continue;
            const bool cut = m_mapping.axis.cuts && value > m_mapping.axis.high * 1.0001;
            if (!cut && std::isfinite(value))
                continue;
            const double x = m_mapping.x(static_cast<double>(columns.x[i]));
            const QString words = std::isnan(value) ? tr("▲ not a number")
                : std::isinf(value)                 ? QStringLiteral("▲ ∞")
                                                    : QStringLiteral("▲ ") + m_data.format(value);
            const double width = metrics.horizontalAdvance(words);
            const double left = std::clamp(x - 4, plot.left(), std::max(plot.left(), plot.right() - width));
            if (left < free)
                continue;
            free = left + width + 6;
            painter.fillRect(QRectF(left - 2, plot.top(), width + 4, metrics.height()), color(Token::Raised));
            painter.drawText(QPointF(left, plot.top() + metrics.ascent()), words);
        }
    }
}

void PlotView::paintMarks(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    const auto inside = [&](std::int64_t step) { return step >= m_data.range.first && step <= m_data.range.second; };
    const auto line = [&](std::int64_t step, const QPen& pen) {
        painter.setPen(pen);
        const double x = std::round(m_mapping.x(static_cast<double>(step)));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    };
    if (m_data.threshold) {
        const double y = std::round(m_mapping.y(m_data.threshold->value));
        if (y > plot.top() && y < plot.bottom()) {
            painter.setPen(QPen(color(Token::Muted), 1, Qt::DashLine));
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
            painter.drawText(QPointF(plot.left() + 8, y - 4), m_data.threshold->text);
        }
    }
    double free = plot.left(); // texts end left of it
    for (const PlotMark& mark : m_data.marks) {
        if (!inside(mark.step))
            continue;
        line(mark.step, QPen(color(mark.token), 1, Qt::DotLine));
        const double x = m_mapping.x(static_cast<double>(mark.step));
        const double width = painter.fontMetrics().horizontalAdvance(mark.text);
        const double left = x + 3 + width > plot.right() ? x - 3 - width : x + 3;
        if (left < free)
            continue;
        painter.drawText(QPointF(left, plot.top() + 10), mark.text);
        free = left + width + 6;
    }
    if (m_a && inside(*m_a))
        line(*m_a, QPen(color(Token::Muted), 1, Qt::DashLine));
    if (m_b && inside(*m_b))
        line(*m_b, QPen(color(Token::Accent), 1));
    if (m_hovered && inside(*m_hovered))
        line(*m_hovered, QPen(color(Token::StrongBorder), 1));
}

void PlotView::paintLabels(QPainter& painter) const
{
    const QRectF& plot = m_mapping.rect;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const auto dot = [&](const QPointF& at, Token token, double radius) {
        painter.setBrush(color(token));
        painter.drawEllipse(at, radius, radius);
    };
    for (const PlotLayer::Dot& lonely : m_layer.dots())
        dot(lonely.at, lonely.token, 1.75);
    if (hasDot()) {
        const PlotSeries& series = m_data.series[0];
        const std::vector<double> line =
            m_smoothing > 0 ? smoothed(series.columns.last, m_smoothing) : series.columns.last;
        dot({ m_mapping.x(static_cast<double>(series.columns.x.back())), m_mapping.y(line.back()) }, series.token, 3);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(color(Token::Text));
    const QFontMetrics metrics(painter.font());
    for (const PlotLabel& label : m_data.labels) {
        const double x = m_mapping.x(static_cast<double>(label.step));
        const bool isCut = m_mapping.axis.cuts && label.value > m_mapping.axis.high; // says so itself
        if (x < plot.left() || x > plot.right() || isCut)
            continue;
        const double width = metrics.horizontalAdvance(label.text);
        double left = x - 8 - width;
        if (left < plot.left())
            left = std::min(x + 8, plot.right() - width);
        painter.drawText(QPointF(left, std::max(plot.top() + metrics.ascent(), m_mapping.y(label.value) + 10)),
                         label.text);
    }
}

/// The values at the crosshair, nearest to the mouse first, where the mouse or the keyboard is.
void PlotView::paintReadout(QPainter& painter) const
{
    if (!m_hovered || !m_mouseInside)
        return;
    const int row = m_table.rowOf(static_cast<double>(*m_hovered));
    if (row < 0)
        return;
    constexpr int Most = 5;
    struct Line {
        QString label;
        QString value;
        Token token;
    };
    std::vector<Line> lines;
    int left = 0;
    for (int i = m_table.columnCount() - 1; i >= 0; --i) {
        const PlotSeries& series = m_data.series[static_cast<std::size_t>(i)];
        const std::optional<double> value = m_table.value(row, i);
        if (!value)
            continue;
        if (lines.size() == Most)
            ++left;
        else
            lines.push_back({ series.label, m_data.format(*value), series.token });
    }
    const QFontMetrics metrics(painter.font());
    const QString head = tr("step %1").arg(m_table.step(row)) + (left > 0 ? tr(", %1 more").arg(left) : QString());
    int width = metrics.horizontalAdvance(head);
    for (const Line& line : lines)
        width =
            std::max(width, 14 + metrics.horizontalAdvance(line.label) + 12 + metrics.horizontalAdvance(line.value));
    const int each = metrics.height();
    const QRectF& plot = m_mapping.rect;
    QRectF box(0, 0, width + 16, each * (static_cast<int>(lines.size()) + 1) + 8);
    const double x = m_mapping.x(static_cast<double>(m_table.step(row)));
    box.moveTopLeft({ x + 8 + box.width() > plot.right() ? x - 8 - box.width() : x + 8, plot.top() });
    box.moveLeft(std::clamp(box.left(), 1.0, std::max(1.0, this->width() - 1 - box.width())));
    painter.setPen(color(Token::StrongBorder));
    painter.setBrush(color(Token::Raised));
    painter.drawRect(box.toAlignedRect());
    double y = box.top() + 4 + metrics.ascent();
    painter.setPen(color(Token::Muted));
    painter.drawText(QPointF(box.left() + 8, y), head);
    for (const Line& line : lines) {
        y += each;
        painter.fillRect(QRectF(box.left() + 8, y - 8, 8, 8), color(line.token));
        painter.setPen(color(Token::Muted));
        painter.drawText(QPointF(box.left() + 22, y), line.label);
        painter.setPen(color(Token::Text));
        painter.drawText(QPointF(box.right() - 8 - metrics.horizontalAdvance(line.value), y), line.value);
    }
}

} // namespace deltascope::desktop
