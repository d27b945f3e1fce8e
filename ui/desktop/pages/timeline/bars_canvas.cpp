#include "pages/timeline/bars_canvas.h"

#include "look/format.h"
#include "look/look.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr double BarsDragFrom = 6; // pixels
constexpr double BarsKeyZoom = 1.4;
constexpr double BarsKeyPan = 0.25; // of what is seen

}

BarsCanvas::BarsCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("Sync time per step"));
    setFont(typeFont(Type::Label));
}

void BarsCanvas::setModel(TimelinePointer model)
{
    m_scene.model = model;
    m_scene.axis = makeBarAxis(*model, m_scene.unit);
    setAccessibleName(tr("Sync time of %1").arg(pluralText(model->syncs.size(), tr("step"), tr("steps"))));
    m_table.setModel(std::move(model));
    update();
}

void BarsCanvas::setSelected(std::optional<StepId> step)
{
    if (step == m_selected)
        return;
    m_selected = step;
    m_scene.selected = step ? std::optional(step->step) : std::nullopt;
    if (step)
        announceCell(readout(step->step));
    update();
}

void BarsCanvas::setUnit(BarUnit unit)
{
    m_scene.unit = unit;
    if (m_scene.model)
        m_scene.axis = makeBarAxis(*m_scene.model, unit);
    update();
}

void BarsCanvas::setGhost(bool shown)
{
    m_scene.ghost = shown;
    update();
}

QString BarsCanvas::readout(std::int64_t step) const
{
    const app::BarView* bar = m_scene.model ? m_scene.model->barOf(step) : nullptr;
    if (!bar)
        return tr("step %1, no sync reported").arg(step);
    const QString who = bar->actor.empty() ? tr("publisher only") : safeName(bar->actor);
    const QString pause =
        bar->pauseUs ? tr("%1 paused").arg(durationText(secondsOf(*bar->pauseUs))) : tr("pause not reported");
    return tr("step %1, %2, %3 in all, %4")
        .arg(QString::number(step), who, durationText(secondsOf(bar->t1Us - bar->t0Us)), pause);
}

QModelIndex BarsCanvas::currentCell() const
{
    const int row = m_selected ? m_table.rowOf(m_selected->step) : -1;
    return row < 0 ? QModelIndex() : m_table.index(row, 1);
}

void BarsCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        emit stepChosen(m_table.step(cell.row()));
}

std::optional<StepId> BarsCanvas::stepAtCursor() const
{
    if (underMouse() && m_scene.hovered && m_scene.model)
        return StepId { m_scene.model->view.epoch, *m_scene.hovered };
    return m_selected;
}

bool BarsCanvas::wantsKey(const QKeyEvent& event) const
{
    const bool plain = (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    switch (event.key()) {
    case Qt::Key_W:
    case Qt::Key_S:
    case Qt::Key_A:
    case Qt::Key_D:
    case Qt::Key_F:
        return plain;
    case Qt::Key_Escape:
        return m_pressX.has_value();
    default:
        return false;
    }
}

void BarsCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    if (m_scene.model && m_scene.model->view.bars.empty()) {
        painter.setPen(color(Token::Muted));
        painter.drawText(rect(), Qt::AlignCenter, tr("No sync of these steps was reported."));
    } else if (m_scene.model) {
        paintBars(painter, m_scene);
    }
    if (m_pressX && std::abs(m_dragX - *m_pressX) > BarsDragFrom) {
        const double left = std::clamp(std::min(*m_pressX, m_dragX), m_scene.plot.left(), m_scene.plot.right());
        const double right = std::clamp(std::max(*m_pressX, m_dragX), m_scene.plot.left(), m_scene.plot.right());
        QColor ground = color(Token::Accent);
        ground.setAlphaF(0.16F);
        painter.setPen(QPen(color(Token::Accent), 1.5));
        painter.setBrush(ground);
        painter.drawRect(QRectF(left, m_scene.plot.top(), right - left, m_scene.plot.height()));
    }
    paintFocus(painter, rect());
}

bool BarsCanvas::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return Canvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto step = stepAt(help->pos().x());
    if (step)
        QToolTip::showText(help->globalPos(), toolTipText(*step), this);
    else
        QToolTip::hideText();
    return true;
}

QString BarsCanvas::toolTipText(std::int64_t step) const
{
    QString text = readout(step);
    const app::BarView* bar = m_scene.model->barOf(step);
    if (!bar)
        return text;
    if (hasNoBreakdown(*bar))
        return text + QLatin1Char('\n') + tr("Breakdown not reported, the total only.");
    for (auto time = bar->phases.rbegin(); time != bar->phases.rend(); ++time)
        text += QStringLiteral("\n%1  %2").arg(safeName(time->phase), durationText(secondsOf(time->us)));
    return text;
}

void BarsCanvas::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    m_scene.plot = barPlot(size());
}

std::optional<std::int64_t> BarsCanvas::stepAt(double x) const
{
    const int slot = m_scene.slotAt(x);
    return slot < 0 ? std::nullopt : std::optional(m_scene.model->syncs[static_cast<std::size_t>(slot)].step);
}

void BarsCanvas::hover(std::optional<std::int64_t> step)
{
    if (step == m_scene.hovered)
        return;
    m_scene.hovered = step;
    update();
}

void BarsCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return Canvas::mousePressEvent(event);
    m_doubleClicked = false;
    m_pressX = m_dragX = event->position().x();
}

void BarsCanvas::mouseMoveEvent(QMouseEvent* event)
{
    hover(stepAt(event->position().x()));
    if (!m_pressX)
        return;
    m_dragX = event->position().x();
    update();
}

void BarsCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_pressX || m_doubleClicked)
        return;
    const double from = std::clamp(std::min(*m_pressX, m_dragX), m_scene.plot.left(), m_scene.plot.right() - 1);
    const double to = std::clamp(std::max(*m_pressX, m_dragX), m_scene.plot.left(), m_scene.plot.right() - 1);
    const bool dragged = std::abs(m_dragX - *m_pressX) > BarsDragFrom;
    m_pressX.reset();
    update();
    const auto first = stepAt(from);
    const auto last = stepAt(to);
    if (dragged && first && last)
        emit rangeChosen(*first, *last);
    else if (const auto step = stepAt(event->position().x()); !dragged && step)
        emit stepChosen(*step);
}

void BarsCanvas::mouseDoubleClickEvent(QMouseEvent*)
{
    m_doubleClicked = true;
    m_pressX.reset();
    emit resetWanted();
}

void BarsCanvas::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    hover(std::nullopt);
}

void BarsCanvas::pan(double versions)
{
    m_panRest += versions;
    const auto whole = static_cast<int>(m_panRest);
    m_panRest -= whole;
    if (whole != 0)
        emit panned(whole);
}

void BarsCanvas::wheelEvent(QWheelEvent* event)
{
    const QPoint turned = event->angleDelta();
    if (std::abs(turned.x()) > std::abs(turned.y()) || event->modifiers() & Qt::ShiftModifier)
        pan(-(turned.x() + turned.y()) / 120.0 * std::max(1.0, 60 / m_scene.cell()));
    else if (turned.y() != 0)
        emit zoomed(std::clamp((event->position().x() - m_scene.plot.left()) / m_scene.plot.width(), 0.0, 1.0),
                    std::pow(1.25, turned.y() / 120.0));
    event->accept();
}

void BarsCanvas::keyPressEvent(QKeyEvent* event)
{
    const double seen = m_scene.model ? static_cast<double>(m_scene.model->syncs.size()) : 0;
    switch (event->key()) {
    case Qt::Key_W:
        return emit zoomed(0.5, BarsKeyZoom);
    case Qt::Key_S:
        return emit zoomed(0.5, 1 / BarsKeyZoom);
    case Qt::Key_A:
        return pan(-std::max(1.0, seen * BarsKeyPan));
    case Qt::Key_D:
        return pan(std::max(1.0, seen * BarsKeyPan));
    case Qt::Key_F:
        return emit resetWanted();
    case Qt::Key_Escape:
        m_pressX.reset();
        return update();
    default:
        Canvas::keyPressEvent(event);
    }
}

} // namespace deltascope::desktop
