#include "heat/heat_canvas.h"
#include "heat/heat_scale.h"

#include <QAction>
#include <QMenu>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

// Mouse and wheel of the heatmap.

namespace deltascope::desktop {

namespace {

constexpr double WheelZoom = 1.0015; ///< per unit of the wheel
constexpr int DragPixels = 4;
constexpr double MostShown = 3; ///< between the ends of the legend, at least

}

std::optional<Spot> HeatCanvas::spotAt(const QPoint& at) const
{
    const QRect plot = layout().plot;
    return plot.contains(at) ? m_model.spotAt(at.x() - plot.x(), at.y() - plot.y()) : std::nullopt;
}

void HeatCanvas::setHover(const std::optional<Spot>& spot, const QPoint& at)
{
    const QRect plot = layout().plot;
    const auto lines = [&](const QPoint& point) {
        update(QRect(point.x() - 1, plot.y(), 3, plot.height()));
        update(QRect(plot.x(), point.y() - 1, plot.width(), 3));
    };
    if (m_hover)
        lines(m_mouse);
    const bool moved = spot != m_hover;
    m_hover = spot;
    m_mouse = at;
    if (m_hover)
        lines(m_mouse);
    if (moved)
        emit cellFocused();
}

void HeatCanvas::hoverGutter(const QPoint& at)
{
    m_gutterMouse = at;
    const QRect gutter = layout().gutter;
    const int row =
        gutter.contains(at) && !m_model.isEmpty() ? rowAt(m_model.tops(), at.y() - gutter.y() + m_model.scroll()) : -1;
    if (row == m_spark.row)
        return;
    if (m_spark.row >= 0)
        update(sparkBox(gutter, m_model, m_spark));
    m_spark = row < 0 ? RowSpark {} : makeRowSpark(m_model, row, HeatScale::shared().pool());
    if (row >= 0)
        update(sparkBox(gutter, m_model, m_spark));
}

void HeatCanvas::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    hoverGutter({ -1, -1 });
    setHover(std::nullopt, { -1, -1 });
}

void HeatCanvas::wheelEvent(QWheelEvent* event)
{
    const HeatLayout at = layout();
    const QPoint place = event->position().toPoint();
    const Qt::KeyboardModifiers keys = event->modifiers();
    QPoint turned = event->angleDelta();
    if (at.tree.contains(place) || at.gutter.contains(place)) {
        move(true, [&] { m_model.scrollBy(-turned.y() / 2); });
    } else if (!at.plot.contains(place)) {
        event->ignore();
        return;
    } else if (keys == Qt::NoModifier && std::abs(turned.x()) > std::abs(turned.y())) {
        move(true, [&] { m_model.panSteps(turned.x()); });
    } else {
        const int angle = turned.y() != 0 ? turned.y() : turned.x(); // Shift and Alt turn the wheel sideways
        const double factor = std::pow(WheelZoom, angle);
        move(true, [&] {
            if (!(keys & Qt::ShiftModifier))
                m_model.zoomSteps(place.x() - at.plot.x(), factor);
            if (keys & (Qt::ShiftModifier | Qt::ControlModifier))
                m_model.zoomRows(place.y() - at.plot.y(), factor);
        });
    }
    event->accept();
}

void HeatCanvas::mousePressEvent(QMouseEvent* event)
{
    const HeatLayout at = layout();
    m_pressedAt = m_draggedTo = event->pos();
    m_beforeDrag = m_model.zoom();
    m_drag = Drag::None;
    if (m_model.isEmpty())
        return;
    const bool pans =
        event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && m_space != Space::Up);
    if (pans && at.plot.contains(m_pressedAt)) {
        m_drag = Drag::Pan;
        if (m_space == Space::Down)
            m_space = Space::Used;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        if (at.overview.adjusted(0, -4, 0, 4).contains(m_pressedAt)) {
            m_drag = Drag::Overview;
            dragOverview(m_pressedAt.x());
        } else if (at.legend.adjusted(-4, 0, 4, 0).contains(m_pressedAt) && !HeatScale::shared().locked()) {
            m_drag = Drag::Legend;
        } else if (at.plot.contains(m_pressedAt) || at.tree.contains(m_pressedAt)) {
            m_drag = Drag::Press;
        }
    }
}

void HeatCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const QPoint at = event->pos();
    switch (m_drag) {
    case Drag::None:
        setHover(spotAt(at), at);
        hoverGutter(at);
        return;
    case Drag::Press:
        if ((at - m_pressedAt).manhattanLength() <= DragPixels || !layout().plot.contains(m_pressedAt))
            return;
        m_drag = Drag::Box;
        setHover(std::nullopt, at);
        [[fallthrough]];
    case Drag::Box: {
        const QRect before = box();
        m_draggedTo = at;
        update(before.united(box()).adjusted(-2, -2, 2, 2));
        return;
    }
    case Drag::Pan:
        m_model.panSteps(at.x() - m_draggedTo.x());
        m_model.scrollBy(m_draggedTo.y() - at.y());
        m_draggedTo = at;
        viewMoved();
        return;
    case Drag::Overview:
        dragOverview(at.x());
        return;
    case Drag::Legend:
        dragLegend(at.y());
        return;
    }
}

void HeatCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    const Drag ended = m_drag;
    m_drag = Drag::None;
    unsetCursor();
    if ((ended == Drag::Pan || ended == Drag::Overview) && m_model.zoom() != m_beforeDrag) {
        emit zoomed(m_beforeDrag, false);
    } else if (ended == Drag::Box) {
        m_draggedTo = event->pos();
        m_drag = Drag::Box; // stays painted below the menu
        showBoxMenu(event->globalPosition().toPoint());
        m_drag = Drag::None;
        update();
    } else if (ended == Drag::Press) {
        const HeatLayout at = layout();
        if (const std::optional<Spot> spot = spotAt(m_pressedAt)) {
            m_model.place(*spot);
            cursorMoved();
            emit cellChosen(*spot);
        } else if (const int row = rowAt(m_model.tops(), m_pressedAt.y() - at.tree.y() + m_model.scroll());
                   row >= 0 && at.tree.contains(m_pressedAt)) {
            if (m_model.rows()[static_cast<std::size_t>(row)].isGroup()) {
                toggleRow(row);
            } else {
                const int column = m_marks.b >= 0 ? m_marks.b : m_model.plan()->columns - 1;
                m_model.place({ row, 0, column });
                cursorMoved();
                emit cellChosen(*m_model.cursor());
            }
        }
    }
}

void HeatCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const std::optional<Spot> spot = spotAt(event->pos()); spot && event->button() == Qt::LeftButton)
        openAtCursor();
    else
        mousePressEvent(event);
}

QRect HeatCanvas::box() const
{
    const QRect plot = layout().plot;
    return QRect(m_pressedAt, m_draggedTo).normalized().intersected(plot);
}

void HeatCanvas::showBoxMenu(const QPoint& at)
{
    const HeatLayout parts = layout();
    const QRect chosen = box();
    const Axis& axis = m_model.axis();
    const int last = m_model.plan()->columns - 1;
    const int from = std::clamp(static_cast<int>(axis.first + (chosen.left() - parts.plot.x()) / axis.cell), 0, last);
    const int to = std::clamp(static_cast<int>(axis.first + (chosen.right() - parts.plot.x()) / axis.cell), from, last);
    const int bottom = m_model.tops().back() - 1;
    const int top = rowAt(m_model.tops(), std::min(bottom, chosen.top() - parts.plot.y() + m_model.scroll()));
    const int end = rowAt(m_model.tops(), std::min(bottom, chosen.bottom() - parts.plot.y() + m_model.scroll()));
    const std::int64_t first = m_model.plan()->column(from).step;
    const std::int64_t until = m_model.plan()->column(to).step;
    QMenu menu(this);
    QAction* zoom = menu.addAction(tr("Zoom here"));
    QAction* range = menu.addAction(tr("Set range %1 – %2").arg(first).arg(until));
    QAction* compare = menu.addAction(tr("Compare %1 with %2").arg(first).arg(until));
    compare->setEnabled(first != until);
    QAction* exported = menu.addAction(tr("Export as CSV…"));
    const QAction* act = menu.exec(at);
    if (act == zoom) {
        move(false, [&] {
            m_model.showColumns(from, to + 1);
            m_model.showRows(top, end + 1);
        });
    } else if (act == range) {
        emit rangeChosen(first, until);
    } else if (act == compare) {
        emit compareChosen(first, until);
    } else if (act == exported) {
        emit exportChosen(from, to + 1, top, end + 1);
    }
}

void HeatCanvas::dragOverview(int x)
{
    const QRect overview = layout().overview;
    const Axis& axis = m_model.axis();
    const double cell = (x - overview.x()) / static_cast<double>(overview.width()) * axis.count;
    m_model.panSteps((axis.first - cell) * axis.cell + axis.size / 2);
    viewMoved();
}

void HeatCanvas::dragLegend(int y)
{
    const QRect legend = layout().legend;
    HeatScale& scale = HeatScale::shared();
    HeatWindow window = scale.colors().window;
    const double part = 1 - (y - legend.y()) / static_cast<double>(legend.height());
    const double value = std::clamp(window.low * std::pow(window.high / window.low, part), 1e-6, 1.0);
    const bool upper = m_pressedAt.y() < legend.center().y();
    if (upper)
        window.high = std::max(value, window.low * MostShown);
    else
        window.low = std::min(value, window.high / MostShown);
    scale.setWindow(window);
}

} // namespace deltascope::desktop
