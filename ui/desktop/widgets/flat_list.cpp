#include "widgets/flat_list.h"

#include "look/look.h"
#include "look/tokens.h"
#include "widgets/table_header.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace deltascope::desktop {

FlatList::FlatList(QWidget* parent)
    : QTreeView(parent)
{
    setFont(typeFont(Type::Table));
    TableHeader::give(*this, { CellPadding, EdgePadding });
    setRootIsDecorated(false);
    setItemsExpandable(false);
    setUniformRowHeights(true);
    setSelectionMode(ExtendedSelection);
    setSelectionBehavior(SelectRows);
    setEditTriggers(NoEditTriggers);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setFrameShape(NoFrame);
    header()->setStretchLastSection(false);
}

int FlatList::topOf(int line) const { return line * metrics().row - verticalScrollBar()->value(); }

bool FlatList::isInSight(int line) const
{
    return topOf(line) + metrics().row > 0 && topOf(line) < viewport()->height();
}

QRect FlatList::visualRect(const QModelIndex& index) const
{
    return index.isValid()
        ? QRect(columnViewportPosition(index.column()), topOf(index.row()), columnWidth(index.column()), metrics().row)
        : QRect();
}

void FlatList::scrollTo(const QModelIndex& index, ScrollHint hint)
{
    if (!index.isValid())
        return;
    executeDelayedItemsLayout();
    const int top = index.row() * metrics().row;
    const int room = viewport()->height() - metrics().row;
    const int now = verticalScrollBar()->value();
    verticalScrollBar()->setValue(hint == PositionAtTop          ? top
                                      : hint == PositionAtBottom ? top - room
                                      : hint == PositionAtCenter ? top - room / 2
                                                                 : std::min(top, std::max(now, top - room)));
}

/// Nobody sees the other lines.
void FlatList::dataChanged(const QModelIndex& from, const QModelIndex& to, const QList<int>& roles)
{
    const int first = std::max(from.row(), verticalScrollBar()->value() / metrics().row);
    const int last = std::min(to.row(), first + viewport()->height() / metrics().row + 1);
    if (first <= last)
        QTreeView::dataChanged(from.siblingAtRow(first), to.siblingAtRow(last), roles);
}

QRegion FlatList::visualRegionForSelection(const QItemSelection&) const { return viewport()->rect(); }

QString FlatList::selectedText(int first) const
{
    QModelIndexList lines = selectionModel()->selectedRows();
    std::sort(lines.begin(), lines.end());
    QString text;
    const int columns = model()->columnCount();
    for (const QModelIndex& line : lines) {
        for (int column = first; column < columns; ++column)
            text += line.siblingAtColumn(column).data().toString()
                + (column + 1 < columns ? QLatin1Char('\t') : QLatin1Char('\n'));
    }
    return text;
}

void FlatList::setEmptyText(const QString& text)
{
    m_emptyText = text;
    viewport()->update();
}

void FlatList::paintEvent(QPaintEvent* event)
{
    QTreeView::paintEvent(event);
    if (m_emptyText.isEmpty() || !model() || model()->rowCount() > 0)
        return;
    QPainter painter(viewport());
    painter.setPen(color(Token::Muted));
    painter.setFont(typeFont(Type::Body));
    painter.drawText(viewport()->rect().adjusted(16, 48, -16, 0), Qt::AlignHCenter | Qt::AlignTop, m_emptyText);
}

} // namespace deltascope::desktop
