#pragma once

#include "deltascope/app/view/summary_view.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The state of a replica as mark and words: "◔ behind".
QString replicaText(const app::ReplicaView& replica);

/// Replicas in the order given. GUI thread.
class ReplicaModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Id, Engine, Serving, State, Lag, History, LastPause, Paused, Contact, ColumnCount };
    static constexpr int HistoryRole = Qt::UserRole; ///< QVariantList of the last lags, of column History
    static constexpr int HistoryLength = 60;

    using QAbstractTableModel::QAbstractTableModel;

    /// `nowUs`: when ages were counted.
    void setReplicas(std::vector<app::ReplicaHistoryView> replicas);
    const app::ReplicaHistoryView& replica(int row) const { return m_replicas[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString text(const app::ReplicaHistoryView& view, int column) const;
    QVariant ink(const app::ReplicaHistoryView& view, int column) const;

    std::vector<app::ReplicaHistoryView> m_replicas;
};

} // namespace deltascope::desktop
