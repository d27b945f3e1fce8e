#pragma once

#include "pages/timeline/timeline_model.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The spans behind one bar: of its replica and of the publishers, by begin. GUI thread.
class SyncSpans final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    /// `bar` is of `view`.
    void setBar(const app::TimelineView& view, const app::BarView& bar);
    void clear();
    /// Starts are counted from the publication where it is known, else from the begin of the sync.
    bool countsFromVisible() const { return m_fromVisible; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    PhaseGroup groupWithin(const app::SpanView& span) const;

    std::vector<app::SpanView> m_spans;
    std::int64_t m_originUs = 0;
    bool m_fromVisible = false;
};

} // namespace deltascope::desktop
