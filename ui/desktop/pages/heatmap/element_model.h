#pragma once

#include "deltascope/app/view/tensor_view.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

using ElementsPointer = std::shared_ptr<const app::ElementsView>;

/// Elements of a window of one tensor at two steps: bits, values and how far they moved. GUI thread.
class ElementModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Index, Row, Col, OldBits, NewBits, OldValue, NewValue, Delta, Ulps, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    /// `columns`: of the whole tensor, for the index.
    void setElements(const ElementsPointer& elements, std::uint64_t columns);
    const ElementsPointer& elements() const { return m_elements; }
    void setOnlyChanged(bool on);
    bool onlyChanged() const { return m_onlyChanged; }
    int changedCount() const { return m_changed; }
    int elementCount() const { return m_elements ? static_cast<int>(m_elements->newBits.size()) : 0; }

    bool isChanged(int element) const;
    std::optional<double> delta(int element) const; ///< nothing where a value is not known or not finite
    std::optional<std::uint64_t> ulps(int element) const; ///< representable values between; nothing for no float
    int elementAt(int row) const { return m_shown[static_cast<std::size_t>(row)]; }
    int rowOfElement(int element) const; ///< -1: not shown

    /// For numpy or a spreadsheet; of what is shown, in its order.
    QString asTsv() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

private:
    void list();
    double sortKey(int element, int column) const;
    std::uint64_t rowOf(int element) const;
    std::uint64_t columnOf(int element) const;
    QString cell(int element, int column, bool exact) const;

    ElementsPointer m_elements;
    std::uint64_t m_columns = 1;
    bool m_onlyChanged = false;
    int m_sortColumn = Index;
    Qt::SortOrder m_order = Qt::AscendingOrder;
    int m_changed = 0;
    std::vector<int> m_shown; ///< elements of the window, in the order of the rows
};

} // namespace deltascope::desktop
