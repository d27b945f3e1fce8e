#include "look/text_cache.h"

#include <QFontMetrics>
#include <QPainter>

#include <cmath>

namespace deltascope::desktop {

int TextCache::draw(QPainter& painter, const QRect& room, const QString& what, const QFont& font, Qt::Alignment align)
{
    const Text* text = &textOf(what, font);
    if (text->width > room.width())
        text = &textOf(QFontMetrics(font, painter.device()).elidedText(what, Qt::ElideRight, room.width()), font);
    const int free = room.width() - text->width;
    const int left = align & Qt::AlignRight ? free : align & Qt::AlignHCenter ? free / 2 : 0;
    const int top = (room.height() - static_cast<int>(text->layout.size().height())) / 2;
    painter.setFont(font);
    painter.drawStaticText(room.left() + left, room.top() + top, text->layout);
    return text->width;
}

const TextCache::Text& TextCache::textOf(const QString& what, const QFont& font)
{
    constexpr qsizetype Most = 4096;
    const std::pair key(&font, what);
    if (const auto known = m_texts.constFind(key); known != m_texts.constEnd())
        return *known;
    if (m_texts.size() >= Most)
        m_texts.clear();
    Text text { QStaticText(what), 0 };
    text.layout.setTextFormat(Qt::PlainText);
    text.layout.setPerformanceHint(QStaticText::AggressiveCaching);
    text.layout.prepare({}, font);
    text.width = static_cast<int>(std::ceil(text.layout.size().width()));
    return *m_texts.insert(key, std::move(text));
}

} // namespace deltascope::desktop
