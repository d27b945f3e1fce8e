#include "canvas/canvas_accessible.h"

#include "canvas/canvas.h"

#include <QAbstractItemModel>
#include <QAccessible>
#include <QAccessibleWidget>
#include <QHash>
#include <QPointer>

namespace deltascope::desktop {

namespace {

class CanvasAccessible;

/// One cell. Made when somebody asks for it; the registry of QAccessible owns it.
class CanvasCell final : public QAccessibleInterface, public QAccessibleTableCellInterface {
public:
    CanvasCell(Canvas* canvas, int row, int column)
        : m_canvas(canvas)
        , m_row(row)
        , m_column(column)
    {
    }

    bool isValid() const override
    {
        return m_canvas && m_row < m_canvas->table()->rowCount() && m_column < m_canvas->table()->columnCount();
    }
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(m_canvas); }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QRect rect() const override { return {}; }
    QAccessible::Role role() const override { return QAccessible::Cell; }
    QAccessible::State state() const override
    {
        QAccessible::State state;
        state.selectable = true;
        state.selected = isSelected();
        state.focused = state.selected && m_canvas && m_canvas->hasFocus();
        state.invalid = !isValid();
        return state;
    }
    QString text(QAccessible::Text kind) const override
    {
        if (!isValid())
            return {};
        QAbstractItemModel* table = m_canvas->table();
        const QString value = table->index(m_row, m_column).data().toString();
        if (kind == QAccessible::Value)
            return value;
        if (kind != QAccessible::Name)
            return {};
        return QStringLiteral("%1, %2, %3")
            .arg(table->headerData(m_row, Qt::Vertical).toString(),
                 table->headerData(m_column, Qt::Horizontal).toString(), value);
    }
    void setText(QAccessible::Text, const QString&) override { }
    void* interface_cast(QAccessible::InterfaceType type) override
    {
        return type == QAccessible::TableCellInterface ? static_cast<QAccessibleTableCellInterface*>(this) : nullptr;
    }

    int columnExtent() const override { return 1; }
    int rowExtent() const override { return 1; }
    int columnIndex() const override { return m_column; }
    int rowIndex() const override { return m_row; }
    QList<QAccessibleInterface*> columnHeaderCells() const override { return {}; }
    QList<QAccessibleInterface*> rowHeaderCells() const override { return {}; }
    bool isSelected() const override
    {
        const QModelIndex current = m_canvas ? m_canvas->currentCell() : QModelIndex();
        return current.isValid() && current.row() == m_row && current.column() == m_column;
    }
    QAccessibleInterface* table() const override { return parent(); }

private:
    QPointer<Canvas> m_canvas;
    int m_row;
    int m_column;
};

class CanvasAccessible final : public QAccessibleWidget, public QAccessibleTableInterface {
public:
    explicit CanvasAccessible(Canvas* canvas)
        : QAccessibleWidget(canvas, QAccessible::Table)
    {
    }
    ~CanvasAccessible() override
    {
        for (const QAccessible::Id id : std::as_const(m_cells))
            QAccessible::deleteAccessibleInterface(id);
    }

    void* interface_cast(QAccessible::InterfaceType type) override
    {
        if (type == QAccessible::TableInterface)
            return static_cast<QAccessibleTableInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }

    QAccessibleInterface* cellAt(int row, int column) const override
    {
        if (row < 0 || column < 0 || row >= rowCount() || column >= columnCount())
            return nullptr;
        const quint64 key = (static_cast<quint64>(row) << 32) | static_cast<quint32>(column);
        if (const auto known = m_cells.constFind(key); known != m_cells.constEnd())
            return QAccessible::accessibleInterface(*known);
        auto* cell = new CanvasCell(canvas(), row, column);
        m_cells.insert(key, QAccessible::registerAccessibleInterface(cell));
        return cell;
    }
    int childCount() const override { return rowCount() * columnCount(); }
    QAccessibleInterface* child(int index) const override
    {
        return columnCount() == 0 ? nullptr : cellAt(index / columnCount(), index % columnCount());
    }
    int indexOfChild(const QAccessibleInterface* child) const override
    {
        const auto* cell = dynamic_cast<const CanvasCell*>(child);
        return cell ? cell->rowIndex() * columnCount() + cell->columnIndex() : -1;
    }

    int rowCount() const override { return table()->rowCount(); }
    int columnCount() const override { return table()->columnCount(); }
    QString rowDescription(int row) const override { return table()->headerData(row, Qt::Vertical).toString(); }
    QString columnDescription(int column) const override
    {
        return table()->headerData(column, Qt::Horizontal).toString();
    }
    QAccessibleInterface* caption() const override { return nullptr; }
    QAccessibleInterface* summary() const override { return nullptr; }
    int selectedCellCount() const override { return canvas()->currentCell().isValid() ? 1 : 0; }
    int selectedColumnCount() const override { return 0; }
    int selectedRowCount() const override { return 0; }
    QList<QAccessibleInterface*> selectedCells() const override
    {
        const QModelIndex current = canvas()->currentCell();
        if (QAccessibleInterface* cell = cellAt(current.row(), current.column()))
            return { cell };
        return {};
    }
    QList<int> selectedColumns() const override { return {}; }
    QList<int> selectedRows() const override { return {}; }
    bool isColumnSelected(int) const override { return false; }
    bool isRowSelected(int) const override { return false; }
    bool selectRow(int) override { return false; }
    bool selectColumn(int) override { return false; }
    bool unselectRow(int) override { return false; }
    bool unselectColumn(int) override { return false; }
    void modelChange(QAccessibleTableModelChangeEvent*) override { }

private:
    Canvas* canvas() const { return static_cast<Canvas*>(widget()); }
    QAbstractItemModel* table() const { return canvas()->table(); }

    mutable QHash<quint64, QAccessible::Id> m_cells; ///< by row and column
};

QAccessibleInterface* makeAccessible(const QString&, QObject* object)
{
    auto* canvas = qobject_cast<Canvas*>(object);
    return canvas ? new CanvasAccessible(canvas) : nullptr;
}

}

void installCanvasAccessibility() { QAccessible::installFactory(makeAccessible); }

} // namespace deltascope::desktop
