#include "pages/tensors/history_canvas.h"

#include "heat/color_map.h"
#include "look/format.h"
#include "look/look.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

TensorHistoryPointer makeTensorHistory(const app::HeatView& heat, int epoch, int row)
{
    auto history = std::make_shared<TensorHistory>();
    history->epoch = epoch;
    const auto [first, last] = heat.columnsOf(epoch);
    history->points.reserve(last - first);
    for (std::size_t at = first; at < last; ++at) {
        const app::HeatColumnView& column = heat.columns[at];
        TensorHistory::Point point { column.step, -1 };
        if (column.codes)
            point.share = static_cast<float>(app::heatShare((*column.codes)[static_cast<std::size_t>(row)]));
        history->most = std::max(history->most, point.share);
        history->points.push_back(point);
    }
    return history;
}

// --- table -----------------------------------------------------------------------------------------------------------

void HistoryTable::setHistory(const TensorHistoryPointer& history)
{
    beginResetModel();
    m_history = history;
    endResetModel();
}

int HistoryTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_history ? 0 : static_cast<int>(m_history->points.size());
}

int HistoryTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 1; }

QVariant HistoryTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !index.isValid())
        return {};
    const float share = m_history->points[static_cast<std::size_t>(index.row())].share;
    return share < 0 ? unknownText() : shareText(share);
}

QVariant HistoryTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_history)
        return {};
    return orientation == Qt::Horizontal ? tr("changed")
                                         : tr("step %1").arg(m_history->points[static_cast<std::size_t>(section)].step);
}

// --- canvas ----------------------------------------------------------------------------------------------------------

HistoryCanvas::HistoryCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("Changed share over the steps"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void HistoryCanvas::setHistory(const TensorHistoryPointer& history)
{
    m_history = history;
    m_table.setHistory(history);
    m_hover = -1;
    setB(m_stepB);
    update();
}

void HistoryCanvas::setB(std::optional<StepId> b)
{
    m_stepB = b;
    const int before = m_b;
    m_b = -1;
    if (b && m_history && m_history->epoch == b->epoch) {
        const auto& points = m_history->points;
        const auto at = std::lower_bound(points.begin(), points.end(), b->step,
                                         [](const auto& point, std::int64_t step) { return point.step < step; });
        if (at != points.end() && at->step == b->step)
            m_b = static_cast<int>(at - points.begin());
    }
    if (m_b == before)
        return;
    if (m_b >= 0)
        announceCell(tr("step %1, %2").arg(b->step).arg(m_table.index(m_b, 0).data().toString()));
    update();
}

QModelIndex HistoryCanvas::currentCell() const { return m_b < 0 ? QModelIndex() : m_table.index(m_b, 0); }

void HistoryCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid() && m_history)
        emit stepChosen({ m_history->epoch, m_history->points[static_cast<std::size_t>(cell.row())].step });
}

std::optional<StepId> HistoryCanvas::stepAtCursor() const
{
    const int at = m_hover >= 0 ? m_hover : m_b;
    if (at < 0)
        return std::nullopt;
    return StepId { m_history->epoch, m_history->points[static_cast<std::size_t>(at)].step };
}

QRect HistoryCanvas::plot() const
{
    const int text = QFontMetrics(typeFont(Type::Label)).height();
    return { 12, text + 6, std::max(1, width() - 24), std::max(1, height() - 2 * text - 12) };
}

double HistoryCanvas::xOf(int point) const
{
    const auto count = static_cast<double>(m_history->points.size());
    return plot().x() + (point + 0.5) * plot().width() / count;
}

double HistoryCanvas::yOf(float share) const
{
    const double most = std::max(1e-9F, m_history->most);
    return plot().bottom() - share / most * (plot().height() - 3);
}

int HistoryCanvas::pointAt(int x) const
{
    if (!m_history || m_history->points.empty())
        return -1;
    const auto count = static_cast<int>(m_history->points.size());
    return std::clamp(static_cast<int>((x - plot().x()) / static_cast<double>(plot().width()) * count), 0, count - 1);
}

/// Per pixel the lowest and the highest share, so that no peak is lost.
void HistoryCanvas::paintLine(QPainter& painter) const
{
    QPainterPath path;
    bool open = false;
    const auto count = static_cast<int>(m_history->points.size());
    for (int at = 0; at < count;) {
        const double x = xOf(at);
        const int pixel = static_cast<int>(x);
        float low = -1;
        float high = -1;
        for (; at < count && static_cast<int>(xOf(at)) == pixel; ++at) {
            const float share = m_history->points[static_cast<std::size_t>(at)].share;
            if (share < 0)
                continue;
            low = low < 0 ? share : std::min(low, share);
            high = std::max(high, share);
        }
        if (low < 0) {
            open = false;
            continue;
        }
        if (open)
            path.lineTo(x, yOf(low));
        else
            path.moveTo(x, yOf(low));
        path.lineTo(x + 0.01, yOf(high)); // a lone point is seen as well
        open = true;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color(Token::Accent), 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void HistoryCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    const QRect box = plot();
    painter.setFont(typeFont(Type::Label));
    painter.setPen(color(Token::Muted));
    const int text = painter.fontMetrics().height();
    if (!m_history || m_history->points.empty())
        return;
    const auto& points = m_history->points;
    const QRect above(box.x(), 2, box.width(), text + 2);
    painter.drawText(above, Qt::AlignLeft,
                     tr("changed share, steps %1 – %2").arg(points.front().step).arg(points.back().step));
    const int shown = m_hover >= 0 ? m_hover : -1;
    const QString right = shown >= 0 ? tr("step %1: %2")
                                           .arg(points[static_cast<std::size_t>(shown)].step)
                                           .arg(m_table.index(shown, 0).data().toString())
                                     : tr("max %1").arg(shareText(m_history->most));
    painter.drawText(above, Qt::AlignRight, right);
    painter.fillRect(QRect(box.x(), box.bottom() + 1, box.width(), 1), color(Token::Border));
    paintLine(painter);
    const int below = box.bottom() + 4;
    painter.setPen(color(Token::Muted));
    painter.drawText(QRect(box.x(), below, box.width(), text), Qt::AlignLeft, QString::number(points.front().step));
    painter.drawText(QRect(box.x(), below, box.width(), text), Qt::AlignRight, QString::number(points.back().step));
    if (m_b >= 0) {
        const double x = xOf(m_b);
        QPen pen(color(Token::Text), 1);
        pen.setDashPattern({ 2, 2 });
        painter.setPen(pen);
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        const float share = points[static_cast<std::size_t>(m_b)].share;
        if (share >= 0) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(Qt::NoPen);
            painter.setBrush(color(Token::Text));
            painter.drawEllipse(QPointF(x, yOf(share)), 3, 3);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        const QString label = QString::number(points[static_cast<std::size_t>(m_b)].step);
        const double half = painter.fontMetrics().horizontalAdvance(label) / 2.0;
        const bool free = x - half > box.left() + 40 && x + half < box.right() - 40;
        if (free) {
            painter.setPen(color(Token::Text));
            painter.drawText(QRectF(x - half - 4, below, 2 * half + 8, text), Qt::AlignCenter, label);
        }
    }
    paintFocus(painter, rect());
}

void HistoryCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const int at = plot().adjusted(-4, -20, 4, 20).contains(event->pos()) ? pointAt(event->pos().x()) : -1;
    if (at == m_hover)
        return;
    m_hover = at;
    update();
}

void HistoryCanvas::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_hover = -1;
    update();
}

void HistoryCanvas::mousePressEvent(QMouseEvent* event)
{
    if (const int at = pointAt(event->pos().x()); at >= 0 && event->button() == Qt::LeftButton)
        emit stepChosen({ m_history->epoch, m_history->points[static_cast<std::size_t>(at)].step });
}

} // namespace deltascope::desktop
