#pragma once

#include "pages/timeline/timeline_model.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// Spans of the wall clock as a table: a row per span. GUI thread.
class SpansTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setModel(TimelinePointer model);
    int rowOf(std::int64_t step) const; ///< the first one of a step; -1: none
    std::int64_t step(int row) const { return m_model->clock.spans[static_cast<std::size_t>(row)].step; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    TimelinePointer m_model;
};

} // namespace deltascope::desktop
