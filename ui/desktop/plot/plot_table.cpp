#include "plot/plot_table.h"

#include "look/format.h"

#include <algorithm>

namespace deltascope::desktop {

void PlotTable::show(const PlotData& data)
{
    beginResetModel();
    m_steps = stepsOf(data);
    m_series = data.series;
    m_format = data.format;
    endResetModel();
}

int PlotTable::rowOf(double step) const
{
    const std::optional<std::size_t> at = nearestIndex(m_steps, step);
    return at ? static_cast<int>(*at) : -1;
}

std::optional<double> PlotTable::value(int row, int column) const
{
    const app::SeriesColumns& columns = m_series[static_cast<std::size_t>(column)].columns;
    const auto at = std::lower_bound(columns.x.begin(), columns.x.end(), step(row));
    if (at == columns.x.end() || *at != step(row))
        return std::nullopt;
    const auto i = static_cast<std::size_t>(at - columns.x.begin());
    return m_series[static_cast<std::size_t>(column)].draw == PlotDraw::Bars ? columns.max[i] : columns.last[i];
}

int PlotTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_steps.size());
}

int PlotTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_series.size());
}

QVariant PlotTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const std::optional<double> known = value(index.row(), index.column());
    return known ? m_format(*known) : unknownText();
}

QVariant PlotTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || section < 0)
        return {};
    if (orientation == Qt::Horizontal)
        return section < columnCount() ? m_series[static_cast<std::size_t>(section)].label : QVariant();
    return section < rowCount() ? tr("step %1").arg(step(section)) : QVariant();
}

} // namespace deltascope::desktop
