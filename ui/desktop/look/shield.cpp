#include "look/shield.h"

#include "look/look.h"
#include "look/marks.h"
#include "look/tokens.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmapCache>

namespace deltascope::desktop {

namespace {

/// In a square of 24.
QPainterPath outline()
{
    QPainterPath path(QPointF(12, 2));
    path.lineTo(20.5, 5.3);
    path.lineTo(20.5, 11.3);
    path.cubicTo(20.5, 16.3, 17.1, 20.2, 12, 22);
    path.cubicTo(6.9, 20.2, 3.5, 16.3, 3.5, 11.3);
    path.lineTo(3.5, 5.3);
    path.closeSubpath();
    return path;
}

}

QPixmap shieldPixmap(const std::optional<app::VerifiedView>& verified, int side, qreal ratio)
{
    const bool damaged = verified && verified->result == "damaged";
    const bool passed = verified && isSound(verified->result);
    const QColor ink = color(damaged ? Token::Error : passed ? Token::Accent : Token::Muted);
    const QString digit = !verified ? QString() : damaged ? QStringLiteral("✕") : QString::number(verified->level);
    const QString key =
        QStringLiteral("ds/shield/%1/%2/%3/%4/%5").arg(digit, ink.name()).arg(passed).arg(side).arg(ratio);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap))
        return pixmap;
    pixmap = QPixmap(QSize(side, side) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(side / 24.0, side / 24.0);
    QPen pen(ink, 2);
    if (verified && !passed && !damaged)
        pen.setDashPattern({ 1.6, 1.2 });
    painter.setPen(pen);
    painter.drawPath(outline());
    QFont font = typeFont(Type::Label);
    font.setPixelSize(13);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(QRectF(0, 3, 24, 16), Qt::AlignCenter, digit);
    painter.end();
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

} // namespace deltascope::desktop
