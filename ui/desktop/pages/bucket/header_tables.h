#pragma once

#include "deltascope/app/view/tensor_view.h"

#include <QAbstractTableModel>

#include <memory>

namespace deltascope::desktop {

using HeaderPointer = std::shared_ptr<const app::HeaderView>;

/// The metadata of a safetensors header: names and values. GUI thread.
class MetadataTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void show(HeaderPointer header); ///< null: nothing

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<std::pair<QString, QString>> m_rows;
};

/// The tensors of a safetensors header, largest first. GUI thread.
class TensorTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Name, Form, Bytes, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    void show(HeaderPointer header); ///< null: nothing

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    HeaderPointer m_header;
    std::vector<std::size_t> m_order;
};

} // namespace deltascope::desktop
