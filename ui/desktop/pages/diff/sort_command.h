#pragma once

#include <QPointer>
#include <QUndoCommand>

class QTableView;

namespace deltascope::desktop {

/// How a table is sorted, on the undo stack of the view.
class SortCommand final : public QUndoCommand {
public:
    SortCommand(QTableView* table, int column, Qt::SortOrder order);

    void undo() override;
    void redo() override;

private:
    QPointer<QTableView> m_table;
    int m_columnBefore;
    Qt::SortOrder m_orderBefore;
    int m_column;
    Qt::SortOrder m_order;
};

void sortTable(QTableView& table, int column, Qt::SortOrder order);

} // namespace deltascope::desktop
