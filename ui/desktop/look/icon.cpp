#include "look/icon.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include <optional>

namespace deltascope::desktop {

namespace {

/// Draws a file whose strokes are "currentColor".
class TintedIcon final : public QIconEngine {
public:
    TintedIcon(QString name, std::optional<Token> token)
        : m_name(std::move(name))
        , m_token(token)
    {
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const int side = std::min(rect.width(), rect.height());
        QRect square(0, 0, side, side);
        square.moveCenter(rect.center());
        painter->drawPixmap(square, iconPixmap(m_name, tint(mode), side, painter->device()->devicePixelRatioF()));
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override
    {
        return iconPixmap(m_name, tint(mode), std::min(size.width(), size.height()), 1);
    }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal scale) override
    {
        // Qt gives the size in device pixels.
        return iconPixmap(m_name, tint(mode), qRound(std::min(size.width(), size.height()) / scale), scale);
    }
    QIconEngine* clone() const override { return new TintedIcon(*this); }

private:
    QColor tint(QIcon::Mode mode) const
    {
        if (mode == QIcon::Disabled)
            return color(Token::StrongBorder);
        return color(m_token.value_or(mode == QIcon::Selected ? Token::Accent : Token::Text));
    }

    QString m_name;
    std::optional<Token> m_token;
};

}

QPixmap iconPixmap(const QString& name, const QColor& color, int side, qreal ratio)
{
    const QString key = QStringLiteral("ds/%1/%2/%3/%4").arg(name, color.name(QColor::HexArgb)).arg(side).arg(ratio);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap))
        return pixmap;
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    pixmap = QPixmap(QSize(side, side) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    if (file.open(QIODevice::ReadOnly)) {
        QByteArray text = file.readAll();
        text.replace("currentColor", color.name(QColor::HexRgb).toLatin1());
        QSvgRenderer renderer(text);
        QPainter painter(&pixmap);
        renderer.render(&painter, QRectF(0, 0, side, side));
    }
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

QIcon icon(const QString& name) { return QIcon(new TintedIcon(name, std::nullopt)); }

QIcon icon(const QString& name, Token token) { return QIcon(new TintedIcon(name, token)); }

} // namespace deltascope::desktop
