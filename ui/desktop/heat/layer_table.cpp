#include "heat/layer_table.h"

#include "heat/color_map.h"
#include "look/format.h"

namespace deltascope::desktop {

void LayerTable::setHeat(std::shared_ptr<const LayerHeat> heat)
{
    beginResetModel();
    m_heat = std::move(heat);
    endResetModel();
}

int LayerTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_heat ? 0 : static_cast<int>(m_heat->layers.size());
}

int LayerTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_heat ? 0 : static_cast<int>(m_heat->columns.size());
}

QVariant LayerTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const LayerHeat::Column& column = m_heat->columns[static_cast<std::size_t>(index.column())];
    return column.codes ? shareText(app::heatShare((*column.codes)[static_cast<std::size_t>(index.row())]))
                        : unknownText();
}

QVariant LayerTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || section < 0)
        return {};
    const auto at = static_cast<std::size_t>(section);
    if (orientation == Qt::Vertical)
        return section < rowCount() ? m_heat->layers[at].label : QVariant();
    return section < columnCount() ? QString::number(m_heat->columns[at].step) : QVariant();
}

} // namespace deltascope::desktop
