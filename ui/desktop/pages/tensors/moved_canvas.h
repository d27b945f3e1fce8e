#pragma once

#include "canvas/canvas.h"
#include "pages/tensors/values_table.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// How far elements moved, as a table: a row per distance.
class MovedTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    struct Row {
        QString distance; ///< "3–4"
        std::uint64_t count = 0;
        double share = 0; ///< of all elements
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setStatistics(const StatisticsPointer& statistics);
    const std::vector<Row>& rows() const { return m_rows; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<Row> m_rows;
};

/// Share of elements by the number of representable values that they moved; the length of bars is logarithmic. GUI
/// thread.
class MovedCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit MovedCanvas(QWidget* parent = nullptr);

    void setStatistics(const StatisticsPointer& statistics); ///< null, or without A: nothing

    QAbstractItemModel* table() override { return &m_table; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paint(QPainter& painter, const QRect& exposed) override;

private:
    int rowHeight() const;

    MovedTable m_table;
};

} // namespace deltascope::desktop
