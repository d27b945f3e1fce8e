#include "pages/diff/sort_command.h"

#include <QCoreApplication>
#include <QSortFilterProxyModel>

namespace deltascope::desktop {

SortCommand::SortCommand(QSortFilterProxyModel* rows, int column, Qt::SortOrder order)
    : QUndoCommand(QCoreApplication::translate("SortCommand", "sort"))
    , m_rows(rows)
    , m_columnBefore(rows->sortColumn())
    , m_orderBefore(rows->sortOrder())
    , m_column(column)
    , m_order(order)
{
}

void SortCommand::undo()
{
    if (m_rows && m_columnBefore < m_rows->columnCount())
        m_rows->sort(m_columnBefore, m_orderBefore);
}

void SortCommand::redo()
{
    if (m_rows && m_column < m_rows->columnCount())
        m_rows->sort(m_column, m_order);
}

} // namespace deltascope::desktop
