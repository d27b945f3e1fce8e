#include "pages/lineage/lineage_strip.h"

#include "look/look.h"
#include "look/tokens.h"
#include "pages/lineage/lineage_text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

void LineageStrip::paint(QPainter& painter, const QRect&)
{
    if (m_rendered.isNull())
        renderPicture();
    painter.drawPixmap(0, 0, m_rendered);
    if (count() == 0)
        return;
    if (const std::optional<Window> shown = window()) {
        const double left = xOf(shown->last);
        const double right = std::max(xOf(shown->first) + columnWidth(), left + 4);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(
            QPen(color(m_range || m_dragged ? Token::Text : Token::StrongBorder), m_range || m_dragged ? 2 : 1));
        painter.drawRect(QRectF(left, PlotTop - 4, right - left, PlotHeight + 7));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    const auto mark = [&](const std::optional<StepId>& id, const QString& name) {
        const std::optional<std::size_t> row = id ? m_picture->find(*id) : std::nullopt;
        if (!row)
            return;
        const double x = xOf(*row) + columnWidth() / 2;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(Token::Accent));
        painter.drawRect(QRectF(x - 1, PlotTop - 2, 2, PlotHeight + 4));
        painter.setFont(typeFont(Type::Label));
        const QRectF tag(x - 7, PlotTop + PlotHeight + 5, 14, 14);
        painter.drawRoundedRect(tag, 3, 3);
        painter.setPen(color(Token::OnAccent));
        painter.drawText(tag, Qt::AlignCenter, name);
    };
    mark(m_a, QStringLiteral("A"));
    mark(m_b, QStringLiteral("B"));
    paintFocus(painter, rect());
}

void LineageStrip::renderPicture()
{
    m_rendered = QPixmap(size() * devicePixelRatioF());
    m_rendered.setDevicePixelRatio(devicePixelRatioF());
    m_rendered.fill(color(Token::Surface));
    if (count() == 0)
        return;
    QPainter painter(&m_rendered);
    paintBars(painter);
    paintMarks(painter);
    paintAxis(painter);
}

void LineageStrip::paintBars(QPainter& painter) const
{
    const auto& rows = m_picture->rows();
    std::uint64_t largest = 1; // of deltas
    for (const app::LineageRowView& row : rows) {
        if (!isAnchor(*row.step))
            largest = std::max(largest, row.step->wireBytes);
    }
    const double each = columnWidth();
    const double bar = each < 2 ? 1 : std::min(each * 0.8, each - 1);
    const int bottom = PlotTop + PlotHeight;
    const int pixels = std::max(1, width() - 2 * SideMargin);
    std::vector<float> highest(static_cast<std::size_t>(pixels) + 1, 0); // of deltas per pixel
    std::vector<double> anchors;
    for (std::size_t at = rows.size(); at-- > 0;) {
        const app::StepView& step = *rows[at].step;
        if (isHole(step))
            continue;
        const double x = xOf(at);
        if (isAnchor(step)) {
            anchors.push_back(x);
            continue;
        }
        float& height = highest[static_cast<std::size_t>(std::clamp(x - SideMargin, 0.0, double(pixels)))];
        height =
            std::max(height, static_cast<float>(static_cast<double>(step.wireBytes) / static_cast<double>(largest)));
    }
    QColor fill = color(Token::Accent);
    fill.setAlphaF(0.55F);
    for (std::size_t pixel = 0; pixel < highest.size(); ++pixel) {
        if (highest[pixel] <= 0)
            continue;
        const double height = std::max(1.0, highest[pixel] * PlotHeight * 0.6);
        painter.fillRect(QRectF(SideMargin + static_cast<double>(pixel), bottom - height, bar, height), fill);
    }
    double lastAnchor = -10;
    for (const double x : anchors) {
        if (x - lastAnchor < 1)
            continue;
        lastAnchor = x;
        const double thin = std::clamp(bar, 1.0, 3.0);
        painter.fillRect(QRectF(std::floor(x + std::max(0.0, bar - thin) / 2), PlotTop, thin, PlotHeight),
                         color(Token::Text));
    }
    painter.fillRect(QRectF(SideMargin, bottom, pixels, 1), color(Token::Border));
}

void LineageStrip::paintMarks(QPainter& painter) const
{
    const auto& rows = m_picture->rows();
    const double y = PlotTop + PlotHeight + 12;
    double lastBad = -100;
    double lastFlag = -100;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(typeFont(Type::Label));
    for (std::size_t at = rows.size(); at-- > 0;) {
        const double x = xOf(at) + columnWidth() / 2;
        const app::StepView& step = *rows[at].step;
        if ((isHole(step) || isBroken(rows[at])) && x - lastBad >= 8) {
            painter.setPen(QPen(color(Token::Error), 2));
            painter.drawLine(QPointF(x - 3.5, y - 3.5), QPointF(x + 3.5, y + 3.5));
            painter.drawLine(QPointF(x - 3.5, y + 3.5), QPointF(x + 3.5, y - 3.5));
            lastBad = x;
        } else if (m_picture->hasAlert(at) && x - std::max(lastFlag, lastBad) >= 10) {
            painter.setPen(color(Token::Text));
            painter.drawText(QRectF(x - 8, y - 8, 16, 16), Qt::AlignCenter, QStringLiteral("⚑"));
            lastFlag = x;
        }
        if (at + 1 < rows.size() && rows[at + 1].step->epoch < step.epoch) {
            painter.setPen(QPen(color(Token::Muted), 1, Qt::DashLine));
            painter.drawLine(QPointF(xOf(at), PlotTop), QPointF(xOf(at), y + 6));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void LineageStrip::paintAxis(QPainter& painter) const
{
    const auto& rows = m_picture->rows();
    const QFont font = typeFont(Type::Label);
    const QFontMetricsF measure(font);
    painter.setFont(font);
    painter.setPen(color(Token::Muted));
    const double top = Height - 20;
    const auto write = [&](double left, const QString& text) {
        painter.drawText(QRectF(left, top, measure.horizontalAdvance(text) + 2, 16), Qt::AlignLeft | Qt::AlignVCenter,
                         text);
    };
    const QString first = tr("step %1").arg(rows.back().step->step);
    const QString last = QString::number(rows.front().step->step);
    const double right = width() - SideMargin - measure.horizontalAdvance(last);
    write(SideMargin, first);
    if (rows.size() > 1)
        write(right, last);
    // Round numbers in between, at least 80 px apart.
    const double rowsPerLabel = 80 / std::max(columnWidth(), 1e-6);
    double every = std::pow(10, std::floor(std::log10(std::max(1.0, rowsPerLabel))));
    for (const double factor : { 1.0, 2.0, 5.0, 10.0 }) {
        if (every * factor >= rowsPerLabel) {
            every *= factor;
            break;
        }
    }
    const auto step = static_cast<std::int64_t>(std::max(1.0, every));
    double taken = SideMargin + measure.horizontalAdvance(first) + 12;
    for (std::size_t at = rows.size(); at-- > 1;) {
        if (rows[at].step->step % step != 0 || isHole(*rows[at].step))
            continue;
        const QString text = QString::number(rows[at].step->step);
        const double size = measure.horizontalAdvance(text);
        const double left = xOf(at) + columnWidth() / 2 - size / 2;
        if (left < taken || left + size + 12 > right)
            continue;
        write(left, text);
        taken = left + size + 12;
    }
}

} // namespace deltascope::desktop
