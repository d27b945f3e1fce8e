#pragma once

#include "pages/bucket/bucket_picture.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// Objects and folders of one folder. Asks for more rows as the view comes to the end. GUI thread.
class BucketModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Null: no rows. What is in both pictures keeps its place, selection and focus.
    void show(BucketPointer picture);
    const BucketPointer& picture() const { return m_picture; }
    const app::ListingRowView& row(int at) const { return m_picture->rows[static_cast<std::size_t>(at)]; }
    QModelIndex indexOf(const std::string& key) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool canFetchMore(const QModelIndex& parent) const override;
    void fetchMore(const QModelIndex& parent) override;

signals:
    void moreWanted();

private:
    void reset(BucketPointer picture);

    BucketPointer m_picture;
    int m_shown = 0; ///< rows that the view knows of; differs from the picture's only while they come and go
    bool m_asked = false; ///< for more, without an answer yet
};

} // namespace deltascope::desktop
