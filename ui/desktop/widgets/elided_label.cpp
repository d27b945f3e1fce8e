#include "widgets/elided_label.h"

#include "widgets/cards.h"

#include <QPainter>
#include <QStyle>

namespace deltascope::desktop {

ElidedLabel::ElidedLabel(const char* role, QWidget* parent)
    : QLabel(parent)
{
    dressLabel(this, role);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QRect room = contentsRect();
    style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(),
                          fontMetrics().elidedText(text(), Qt::ElideRight, room.width()), foregroundRole());
}

} // namespace deltascope::desktop
