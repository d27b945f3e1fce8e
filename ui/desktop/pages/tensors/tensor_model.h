#pragma once

#include "pages/tensors/tensor_listing.h"

#include <QAbstractItemModel>

namespace deltascope::desktop {

/// Tensors below their layers. GUI thread.
class TensorModel final : public QAbstractItemModel {
    Q_OBJECT

public:
    using QAbstractItemModel::QAbstractItemModel;

    /// `same`: the items stand where they stood, only numbers differ.
    void setListing(const TensorListingPointer& listing, bool same);
    const TensorListingPointer& listing() const { return m_listing; } ///< null: nothing
    int tensorAt(const QModelIndex& index) const; ///< row of the heatmap; -1: a group
    QModelIndex indexOf(const std::string& tensor) const; ///< invalid: not shown

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

signals:
    void sortWanted(int column, bool descending);

private:
    const TensorListing::Item& itemAt(const QModelIndex& index) const;
    QString text(const TensorListing::Item& item, int column) const;
    QString tip(const TensorListing::Item& item, int column) const;

    TensorListingPointer m_listing;
};

} // namespace deltascope::desktop
