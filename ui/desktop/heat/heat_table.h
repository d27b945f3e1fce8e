#pragma once

#include "heat/heat_model.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The cells in view as a table: tensors by steps. GUI thread.
class HeatTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    /// `model` outlives it.
    explicit HeatTable(const HeatModel& model, QObject* parent = nullptr);

    void sync(); ///< takes over what is in view now
    QModelIndex indexOf(const Spot& spot) const; ///< invalid: not in view
    std::optional<Spot> spotOf(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Line {
        int row = 0; ///< of the view
        int offset = 0;
    };

    const HeatModel& m_model;
    HeatPlanPointer m_plan; ///< what the lines belong to
    std::uint64_t m_rows = 0; ///< revision that the lines belong to
    std::vector<Line> m_lines;
    int m_from = 0; ///< columns [from, to)
    int m_to = 0;
};

} // namespace deltascope::desktop
