#pragma once

#include "pages/timeline/timeline_model.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The bars as a table: a row per version, its sync, pause and phases in columns. GUI thread.
class BarsTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setModel(TimelinePointer model);
    int rowOf(std::int64_t step) const; ///< -1: none
    std::int64_t step(int row) const { return m_model->syncs[static_cast<std::size_t>(row)].step; }
    QByteArray csv() const; ///< seconds

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    /// Nothing: not reported.
    std::optional<double> seconds(const app::BarView& bar, int column) const;

    TimelinePointer m_model;
};

} // namespace deltascope::desktop
