#include "pages/timeline/lanes_canvas.h"

#include "bridge/service_bridge.h"
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

constexpr double LanesDragFrom = 4; // pixels
constexpr double LanesKeyZoom = 1.4;
constexpr double LanesKeyPan = 0.2; // of what is seen
constexpr double LeastUs = 200; // what is seen at least

}

LanesCanvas::LanesCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("Wall clock"));
    setFont(typeFont(Type::Label));
    setCursor(Qt::OpenHandCursor);
}

void LanesCanvas::setModel(TimelinePointer model)
{
    const bool first = !m_scene.model;
    m_scene.model = model;
    const std::size_t actors = model->lanes.empty() ? 0 : model->lanes.size() - 1;
    setAccessibleName(tr("Wall clock, %1").arg(pluralText(actors, tr("actor"), tr("actors"))));
    const TimeWindow& seen = m_scene.window;
    const auto& extent = model->clockExtent;
    if (extent && (first || seen.lengthUs() <= 0 || seen.toUs < extent->fromUs || seen.fromUs > extent->toUs))
        m_scene.window = cut(ownWindow().value_or(model->newestWindow().value_or(*extent)));
    m_table.setModel(std::move(model));
    reveal();
    updateGeometry();
    layOut();
}

void LanesCanvas::setSelected(std::optional<StepId> step)
{
    m_reveals = m_reveals || step != m_selected;
    m_selected = step;
    m_scene.selected = step ? std::optional(step->step) : std::nullopt;
    reveal();
    update();
}

void LanesCanvas::reveal()
{
    const auto own = ownWindow();
    if (!m_reveals || !own)
        return;
    m_reveals = false;
    const double middle = (own->fromUs + own->toUs) / 2;
    if (middle < m_scene.window.fromUs || middle > m_scene.window.toUs)
        setWindow(*own);
}

void LanesCanvas::setWindow(const TimeWindow& window)
{
    m_scene.window = cut(window);
    update();
}

QModelIndex LanesCanvas::currentCell() const
{
    const int row = m_selected ? m_table.rowOf(m_selected->step) : -1;
    return row < 0 ? QModelIndex() : m_table.index(row, 0);
}

void LanesCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        emit stepChosen(m_table.step(cell.row()));
}

bool LanesCanvas::wantsKey(const QKeyEvent& event) const
{
    const bool plain = (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    switch (event.key()) {
    case Qt::Key_W:
    case Qt::Key_S:
    case Qt::Key_A:
    case Qt::Key_D:
    case Qt::Key_F:
        return plain;
    default:
        return false;
    }
}

QSize LanesCanvas::minimumSizeHint() const
{
    return { 320, leastLanesHeight(m_scene.model ? m_scene.model->lanes.size() : 0) };
}

void LanesCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    if (m_scene.model && m_scene.model->clockExtent) {
        m_scene.nowUs = ServiceBridge::nowUs();
        paintLanes(painter, m_scene);
    } else if (m_scene.model) {
        painter.setPen(color(Token::Muted));
        painter.drawText(rect(), Qt::AlignCenter, tr("Nothing in these steps tells when it was."));
    }
    paintFocus(painter, rect());
}

bool LanesCanvas::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return Canvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const app::SpanView* span = m_scene.model ? m_scene.spanAt(help->pos()) : nullptr;
    if (!span) {
        QToolTip::hideText();
        return true;
    }
    const double seconds = secondsOf(span->t1Us - span->t0Us);
    QString text = tr("%1, step %2, %3").arg(safeName(span->actor), QString::number(span->step), safeName(span->phase));
    text += QLatin1Char('\n') + durationText(seconds);
    if (span->bytes > 0)
        text += QStringLiteral(", %1").arg(bytesText(span->bytes));
    if (span->bytes > 0 && seconds > 0)
        text += QStringLiteral(", %1").arg(rateText(static_cast<double>(span->bytes) / seconds));
    text += QLatin1Char('\n') + fullTimeText(span->t0Us);
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void LanesCanvas::layOut()
{
    const std::size_t lanes = m_scene.model ? m_scene.model->lanes.size() : 1;
    m_scene.laneHeight = laneHeightFor(height(), lanes);
    m_scene.plot = lanePlot(width(), m_scene.laneHeight, lanes);
    update();
}

void LanesCanvas::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    layOut();
}

void LanesCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return Canvas::mousePressEvent(event);
    m_pressX = event->position().x();
    m_panned = false;
}

void LanesCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_pressX || (!m_panned && std::abs(event->position().x() - *m_pressX) < LanesDragFrom))
        return;
    m_panned = true;
    setCursor(Qt::ClosedHandCursor);
    pan(event->position().x() - *m_pressX);
    m_pressX = event->position().x();
}

void LanesCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    setCursor(Qt::OpenHandCursor);
    const bool clicked = m_pressX && !m_panned;
    m_pressX.reset();
    if (!clicked || !m_scene.model)
        return;
    if (const app::SpanView* span = m_scene.spanAt(event->position()))
        emit stepChosen(span->step);
}

void LanesCanvas::wheelEvent(QWheelEvent* event)
{
    const QPoint turned = event->angleDelta();
    const bool scrolls = parentWidget() && height() > parentWidget()->height();
    if (std::abs(turned.x()) > std::abs(turned.y()) || event->modifiers() & Qt::ShiftModifier)
        pan((turned.x() + turned.y()) * 0.5);
    else if (scrolls && !(event->modifiers() & Qt::ControlModifier))
        return event->ignore(); // more lanes than room: the wheel goes through them
    else if (turned.y() != 0)
        zoom(event->position().x(), std::pow(1.25, turned.y() / 120.0));
    event->accept();
}

void LanesCanvas::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_W:
        return zoom(m_scene.plot.center().x(), LanesKeyZoom);
    case Qt::Key_S:
        return zoom(m_scene.plot.center().x(), 1 / LanesKeyZoom);
    case Qt::Key_A:
        return pan(m_scene.plot.width() * LanesKeyPan);
    case Qt::Key_D:
        return pan(-m_scene.plot.width() * LanesKeyPan);
    case Qt::Key_F:
        if (const auto own = ownWindow())
            emit windowWanted(cut(*own));
        return;
    default:
        Canvas::keyPressEvent(event);
    }
}

void LanesCanvas::zoom(double x, double factor)
{
    const double fixed = m_scene.toUs(x);
    const TimeWindow& seen = m_scene.window;
    emit windowWanted(cut({ fixed - (fixed - seen.fromUs) / factor, fixed + (seen.toUs - fixed) / factor }));
}

void LanesCanvas::pan(double pixels)
{
    const double by = -pixels / m_scene.plot.width() * m_scene.window.lengthUs();
    emit windowWanted(cut({ m_scene.window.fromUs + by, m_scene.window.toUs + by }));
}

std::optional<TimeWindow> LanesCanvas::ownWindow() const
{
    return m_selected && m_scene.model ? m_scene.model->extentOf(m_selected->step) : std::nullopt;
}

TimeWindow LanesCanvas::cut(TimeWindow window) const
{
    if (!m_scene.model || !m_scene.model->clockExtent)
        return window;
    const TimeWindow& all = *m_scene.model->clockExtent;
    const double room = all.lengthUs() * 0.25; // empty time beside what is known
    const double longest = all.lengthUs() + 2 * room;
    const double length = std::clamp(window.lengthUs(), std::min(LeastUs, longest), longest);
    const double middle = (window.fromUs + window.toUs) / 2;
    const double from = std::clamp(middle - length / 2, all.fromUs - room, all.toUs + room - length);
    return { from, from + length };
}

} // namespace deltascope::desktop
