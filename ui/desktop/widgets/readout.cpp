#include "widgets/readout.h"

#include "widgets/cards.h"

#include <QEvent>

namespace deltascope::desktop {

Readout::Readout(const char* role, QWidget* parent)
    : QLabel(parent)
{
    dressLabel(this, role);
    measure();
}

void Readout::read(const QString& text)
{
    if (text == this->text())
        return;
    setText(text); // a widget of fixed size does not ask its layout
    const int wanted = textWidth();
    if (wanted > minimumWidth() || wanted * 2 < minimumWidth())
        setFixedWidth(wanted);
}

void Readout::changeEvent(QEvent* event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange
        || event->type() == QEvent::ContentsRectChange)
        measure();
}

int Readout::textWidth() const { return m_frame + fontMetrics().horizontalAdvance(text()); }

void Readout::measure()
{
    setMinimumSize(0, 0); // else the hint is at least that
    const QSize wanted = sizeHint();
    m_frame = wanted.width() - fontMetrics().horizontalAdvance(text());
    setFixedSize(wanted);
}

} // namespace deltascope::desktop
