#pragma once

#include "pages/lineage/lineage_picture.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The strip of a run as a table: one row per version, newest first. GUI thread.
class StripTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    void show(LineagePointer picture);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    LineagePointer m_picture;
};

} // namespace deltascope::desktop
