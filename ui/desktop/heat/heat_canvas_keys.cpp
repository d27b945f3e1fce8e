#include "heat/heat_canvas.h"
#include "heat/heat_scale.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>
#include <utility>

// Keys of the heatmap.

namespace deltascope::desktop {

namespace {

constexpr double KeyZoom = 1.4;

}

bool HeatCanvas::wantsKey(const QKeyEvent& event) const
{
    if (event.modifiers() & (Qt::AltModifier | Qt::MetaModifier))
        return false;
    switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        return !(event.modifiers() & Qt::ShiftModifier);
    case Qt::Key_Home:
    case Qt::Key_End:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Plus:
    case Qt::Key_Minus:
    case Qt::Key_W:
    case Qt::Key_S:
    case Qt::Key_A:
    case Qt::Key_D:
    case Qt::Key_Q:
    case Qt::Key_E:
    case Qt::Key_F:
    case Qt::Key_R:
    case Qt::Key_Space:
    case Qt::Key_Comma:
    case Qt::Key_Period:
    case Qt::Key_Escape:
        return !(event.modifiers() & Qt::ControlModifier);
    default:
        return false;
    }
}

void HeatCanvas::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && wantsKey(*event)) {
        if (m_space == Space::Up)
            m_space = Space::Down;
        return;
    }
    if (!wantsKey(*event) || m_model.isEmpty() || !(moveByKey(*event) || zoomByKey(*event)))
        Canvas::keyPressEvent(event);
}

void HeatCanvas::keyReleaseEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Space || event->isAutoRepeat())
        return Canvas::keyReleaseEvent(event);
    if (std::exchange(m_space, Space::Up) == Space::Down)
        emit spaceTapped();
}

void HeatCanvas::focusOutEvent(QFocusEvent* event)
{
    m_space = Space::Up; // its release goes elsewhere
    Canvas::focusOutEvent(event);
}

bool HeatCanvas::moveByKey(const QKeyEvent& event)
{
    const bool far = event.modifiers() & Qt::ControlModifier;
    const auto go = [&](int dx, int dy) {
        if (far)
            m_model.moveToOther(dx, dy, HeatScale::shared().pool());
        else if (dy == 0)
            m_model.moveColumn(dx);
        else
            m_model.moveRow(dy);
    };
    const auto change = [&](int by) {
        if (const int column = m_model.otherChange(by); column >= 0)
            m_model.moveColumn(column - m_model.cursor()->column);
    };
    switch (event.key()) {
    case Qt::Key_Left:
        go(-1, 0);
        break;
    case Qt::Key_Right:
        go(1, 0);
        break;
    case Qt::Key_Up:
        go(0, -1);
        break;
    case Qt::Key_Down:
        go(0, 1);
        break;
    case Qt::Key_Home:
        m_model.moveColumn(-m_model.plan()->columns);
        break;
    case Qt::Key_End:
        m_model.moveColumn(m_model.plan()->columns);
        break;
    case Qt::Key_Comma:
        change(-1);
        break;
    case Qt::Key_Period:
        change(1);
        break;
    case Qt::Key_Escape:
        m_model.clearCursor();
        break;
    default:
        return false;
    }
    cursorMoved();
    return true;
}

bool HeatCanvas::zoomByKey(const QKeyEvent& event)
{
    const double middle = m_model.axis().size / 2;
    const int row = m_model.cursor() ? m_model.cursor()->row : -1;
    switch (event.key()) {
    case Qt::Key_PageUp:
        move(true, [&] { m_model.scrollBy(-m_model.height() * 9 / 10); });
        return true;
    case Qt::Key_PageDown:
        move(true, [&] { m_model.scrollBy(m_model.height() * 9 / 10); });
        return true;
    case Qt::Key_W:
        move(true, [&] { m_model.zoomSteps(middle, KeyZoom); });
        return true;
    case Qt::Key_S:
        move(true, [&] { m_model.zoomSteps(middle, 1 / KeyZoom); });
        return true;
    case Qt::Key_A:
        move(true, [&] { m_model.panSteps(middle / 2); });
        return true;
    case Qt::Key_D:
        move(true, [&] { m_model.panSteps(-middle / 2); });
        return true;
    case Qt::Key_Q:
        move(true, [&] { m_model.zoomRows(m_model.height() / 2.0, 1 / KeyZoom); });
        return true;
    case Qt::Key_E:
        move(true, [&] { m_model.zoomRows(m_model.height() / 2.0, KeyZoom); });
        return true;
    case Qt::Key_F:
        fit();
        return true;
    case Qt::Key_R:
        showSelection();
        return true;
    case Qt::Key_Plus:
        toggleRow(row, true);
        return true;
    case Qt::Key_Minus:
        toggleRow(row, false);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        openAtCursor();
        return true;
    default:
        return false;
    }
}

/// First what is selected, then all.
void HeatCanvas::fit()
{
    const bool selection = m_marks.a >= 0 && m_marks.b >= 0 && m_marks.a != m_marks.b && !m_fittedSelection;
    move(false, [&] {
        if (selection) {
            m_model.showColumns(std::min(m_marks.a, m_marks.b), std::max(m_marks.a, m_marks.b) + 1);
        } else {
            m_model.fitSteps();
            m_model.fitRows();
        }
    });
    m_fittedSelection = selection;
}

void HeatCanvas::showSelection()
{
    const bool selection = m_marks.a >= 0 && m_marks.b >= 0 && m_marks.a != m_marks.b;
    const Axis& axis = m_model.axis();
    const int last = m_model.plan()->columns - 1;
    const int from = selection ? std::min(m_marks.a, m_marks.b) : std::clamp(static_cast<int>(axis.first), 0, last);
    const int to = selection ? std::max(m_marks.a, m_marks.b)
                             : std::clamp(static_cast<int>(std::ceil(axis.first + axis.seen())) - 1, from, last);
    emit rangeChosen(m_model.plan()->column(from).step, m_model.plan()->column(to).step);
}

void HeatCanvas::toggleRow(int row, std::optional<bool> open)
{
    if (row < 0 || !m_model.rows()[static_cast<std::size_t>(row)].isGroup())
        return;
    const bool wanted = open.value_or(!m_model.isOpen(row));
    const QString name = m_model.labelOf(m_model.rows()[static_cast<std::size_t>(row)]);
    m_model.setOpen(row, wanted);
    viewMoved();
    emit cellFocused();
    emit rowsToggled(name, wanted);
}

void HeatCanvas::openAtCursor()
{
    if (!m_model.cursor())
        return;
    const Spot spot = *m_model.cursor();
    if (m_model.tensorAt(spot) < 0)
        toggleRow(spot.row, false);
    else
        emit opened(spot);
}

} // namespace deltascope::desktop
