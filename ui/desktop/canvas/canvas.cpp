#include "canvas/canvas.h"

#include "look/tokens.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QPaintEvent>
#include <QPainter>

namespace deltascope::desktop {

Canvas::Canvas(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
}

void Canvas::paintEvent(QPaintEvent* event)
{
    QElapsedTimer clock;
    clock.start();
    QPainter painter(this);
    painter.setFont(font());
    paint(painter, event->rect());
    m_lastPaintMs = static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

void Canvas::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange
        || event->type() == QEvent::FontChange) {
        lookChanged();
        update();
    }
}

void Canvas::announceCell(const QString& text)
{
    setAccessibleDescription(text);
    if (!QAccessible::isActive())
        return;
    QAccessibleValueChangeEvent event(this, text);
    QAccessible::updateAccessibility(&event);
}

void Canvas::paintFocus(QPainter& painter, const QRect& rect) const
{
    if (!hasFocus())
        return;
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(Token::Accent), 2));
    painter.drawRect(rect.adjusted(1, 1, -1, -1));
}

} // namespace deltascope::desktop
