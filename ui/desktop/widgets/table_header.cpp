#include "widgets/table_header.h"

#include "look/look.h"
#include "look/tokens.h"

#include <QPainter>
#include <QTableView>
#include <QTreeView>
#include <QtMath>

#include <algorithm>

namespace deltascope::desktop {
namespace {

constexpr int ArrowWidth = 7;
constexpr int ArrowHeight = 4;
constexpr int ArrowGap = 4; ///< to the title
constexpr int ArrowRoom = ArrowWidth + ArrowGap;
constexpr int Above = 6; ///< the title, and below it

void paintArrow(QPainter& painter, const QRect& place, Qt::SortOrder order)
{
    const bool up = order == Qt::AscendingOrder;
    const QPoint side(up ? place.bottomLeft() : place.topLeft());
    const QPolygonF arrow { QPointF(side), QPointF(side) + QPointF(place.width(), 0),
                            QPointF(side) + QPointF(place.width() / 2.0, up ? -place.height() : place.height()) };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(Token::Text));
    painter.drawPolygon(arrow);
    painter.restore();
}

}

TableHeader::TableHeader(Insets insets, QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
    , m_insets(insets)
{
    setFont(typeFont(Type::Label));
    setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setTextElideMode(Qt::ElideRight);
}

void TableHeader::give(QTableView& view, Insets insets)
{
    auto* header = new TableHeader(insets, &view);
    header->setSectionsClickable(true);
    view.setHorizontalHeader(header);
}

void TableHeader::give(QTreeView& view, Insets insets)
{
    auto* header = new TableHeader(insets, &view);
    header->setStretchLastSection(true);
    view.setHeader(header);
}

int TableHeader::leftOf(int section) const { return visualIndex(section) == 0 ? m_insets.edge : m_insets.cell; }

int TableHeader::rightOf(int section) const
{
    return visualIndex(section) == count() - 1 ? m_insets.edge : m_insets.cell;
}

Qt::Alignment TableHeader::alignmentOf(int section) const
{
    if (!model())
        return defaultAlignment();
    QVariant wish = model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole);
    if (!wish.isValid())
        wish = model()->index(0, section).data(Qt::TextAlignmentRole);
    if (!wish.isValid())
        return defaultAlignment();
    return wish.canConvert<Qt::Alignment>() ? wish.value<Qt::Alignment>() : Qt::Alignment(wish.toInt());
}

/// Empty behind the end of the model: sections outlive it until the view is laid out anew.
QString TableHeader::titleOf(int section) const
{
    return model() ? model()->headerData(section, Qt::Horizontal).toString() : QString();
}

void TableHeader::paintSection(QPainter* painter, const QRect& rect, int section) const
{
    painter->fillRect(rect, color(Token::Window));
    painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), color(Token::Border));
    QRect room = rect.adjusted(leftOf(section), 0, -rightOf(section), -1);
    const bool sorted = isSortIndicatorShown() && sortIndicatorSection() == section;
    const Qt::Alignment alignment = alignmentOf(section);
    const bool toTheRight = alignment.testFlag(Qt::AlignRight);
    if (sorted)
        room.adjust(toTheRight ? ArrowRoom : 0, 0, toTheRight ? 0 : -ArrowRoom, 0);
    const QFontMetrics metrics = fontMetrics();
    const QString title = metrics.elidedText(titleOf(section), textElideMode(), std::max(0, room.width()));
    painter->setFont(font());
    painter->setPen(color(sorted ? Token::Text : Token::Muted));
    painter->drawText(room, static_cast<int>(alignment) | Qt::TextSingleLine | Qt::TextDontClip, title);
    if (!sorted)
        return;
    const int width = metrics.horizontalAdvance(title);
    const int x = toTheRight ? room.right() + 1 - width - ArrowRoom : room.left() + width + ArrowGap;
    paintArrow(*painter, { x, room.center().y() - ArrowHeight / 2 + 1, ArrowWidth, ArrowHeight }, sortIndicatorOrder());
}

QSize TableHeader::sectionSizeFromContents(int section) const
{
    const int arrow = isSortIndicatorShown() && sortIndicatorSection() == section ? ArrowRoom : 0;
    const int title = qCeil(QFontMetricsF(font()).horizontalAdvance(titleOf(section))); // else it might be elided
    return { leftOf(section) + title + arrow + rightOf(section), fontMetrics().height() + 2 * Above + 1 };
}

} // namespace deltascope::desktop
