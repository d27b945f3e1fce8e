#include "widgets/share_delegate.h"

#include "look/tokens.h"

#include <QPainter>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int NumberWidth = 78;
constexpr int BarHeight = 8;
constexpr int BarWidth = 100;
constexpr int ShareMargin = 8;

}

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QVariant share = index.data(ShareRole);
    if (!share.isValid())
        return QStyledItemDelegate::paint(painter, option, index);
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, color(Token::Selection));
    const QRect& rect = option.rect;
    painter->setFont(option.font);
    painter->setPen(color(Token::Text));
    painter->drawText(QRect(rect.left(), rect.top(), NumberWidth, rect.height()), Qt::AlignVCenter | Qt::AlignRight,
                      index.data().toString());
    const QRectF rail(rect.left() + NumberWidth + ShareMargin, rect.center().y() - BarHeight / 2 + 1,
                      rect.width() - NumberWidth - 2 * ShareMargin, BarHeight);
    if (rail.width() < ShareMargin)
        return;
    painter->fillRect(rail, color(Token::Sunken));
    const double part = std::clamp(share.toDouble(), 0.0, 1.0);
    if (part > 0)
        painter->fillRect(QRectF(rail.left(), rail.top(), std::max(1.0, rail.width() * part), rail.height()),
                          color(Token::Accent));
}

QSize ShareDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (index.data(ShareRole).isValid())
        size.setWidth(NumberWidth + BarWidth + 2 * ShareMargin);
    return size;
}

} // namespace deltascope::desktop
