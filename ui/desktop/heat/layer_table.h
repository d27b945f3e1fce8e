#pragma once

#include "heat/layer_heat.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// Layers by versions with the share that changed. GUI thread.
class LayerTable final : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setHeat(std::shared_ptr<const LayerHeat> heat);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::shared_ptr<const LayerHeat> m_heat;
};

} // namespace deltascope::desktop
