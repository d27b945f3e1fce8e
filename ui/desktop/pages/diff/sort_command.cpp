#include "pages/diff/sort_command.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QTableView>

namespace deltascope::desktop {

SortCommand::SortCommand(QTableView* table, int column, Qt::SortOrder order)
    : QUndoCommand(QCoreApplication::translate("SortCommand", "sort"))
    , m_table(table)
    , m_columnBefore(table->horizontalHeader()->sortIndicatorSection())
    , m_orderBefore(table->horizontalHeader()->sortIndicatorOrder())
    , m_column(column)
    , m_order(order)
{
}

void SortCommand::undo()
{
    if (m_table)
        sortTable(*m_table, m_columnBefore, m_orderBefore);
}

void SortCommand::redo()
{
    if (m_table)
        sortTable(*m_table, m_column, m_order);
}

void sortTable(QTableView& table, int column, Qt::SortOrder order)
{
    if (!table.model() || column < 0 || column >= table.model()->columnCount())
        return;
    table.horizontalHeader()->setSortIndicator(column, order);
    table.model()->sort(column, order);
}

} // namespace deltascope::desktop
