#pragma once

#include "plot/plot_data.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// What a chart shows, as numbers: one row per step, one column per series. GUI thread.
class PlotTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void show(const PlotData& data);
    /// Row of the step nearest to `step`; -1 without any.
    int rowOf(double step) const;
    std::int64_t step(int row) const { return m_steps[static_cast<std::size_t>(row)]; }
    /// Nothing: the series has no value there.
    std::optional<double> value(int row, int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<std::int64_t> m_steps;
    std::vector<PlotSeries> m_series;
    std::function<QString(double)> m_format;
};

} // namespace deltascope::desktop
