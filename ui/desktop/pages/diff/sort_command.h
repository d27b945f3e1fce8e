#pragma once

#include <QPointer>
#include <QSortFilterProxyModel>
#include <QUndoCommand>

namespace deltascope::desktop {

/// How rows are sorted, on the undo stack of the view.
class SortCommand final : public QUndoCommand {
public:
    SortCommand(QSortFilterProxyModel* rows, int column, Qt::SortOrder order);

    void undo() override;
    void redo() override;

private:
    QPointer<QSortFilterProxyModel> m_rows;
    int m_columnBefore;
    Qt::SortOrder m_orderBefore;
    int m_column;
    Qt::SortOrder m_order;
};

} // namespace deltascope::desktop
