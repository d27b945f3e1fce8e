#pragma once

#include "deltascope/app/view/statistics_view.h"

#include <QAbstractTableModel>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

using StatisticsPointer = std::shared_ptr<const app::StatisticsView>;

/// Six significant digits.
QString valueText(const std::optional<double>& value);

/// Statistics of a tensor as a table: a row each, with their values at A and at B.
class ValuesTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Name, AtA, AtB, Columns };

    using QAbstractTableModel::QAbstractTableModel;

    void setStatistics(const StatisticsPointer& statistics); ///< null: nothing
    /// With all digits, for spreadsheets.
    QString asTsv() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString name;
        QString help; ///< may be empty
        QString shown[2]; ///< A, B
        QString exact[2];
    };
    using Values = std::optional<app::ValuesView>;

    void addNumber(const QString& name, const std::function<std::optional<double>(const app::ValuesView&)>& of,
                   const QString& help = {});
    void addCount(const QString& name, const std::function<std::uint64_t(const app::ValuesView&)>& of);
    void addMoved(const app::ValuesMovedView& moved);

    StatisticsPointer m_statistics;
    std::vector<Row> m_rows;
};

} // namespace deltascope::desktop
