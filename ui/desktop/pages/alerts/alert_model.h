#pragma once

#include "deltascope/app/view/alert_view.h"

#include <QAbstractTableModel>
#include <QHash>

namespace deltascope::desktop {

QString alertLevelText(app::AlertLevel level); ///< "✕ error", "⚑ warn", "info"
/// "firing", "acknowledged", "cleared", and whether it is snoozed.
QString alertStateText(const app::AlertView& alert, std::int64_t nowUs);
bool isSnoozed(const app::AlertView& alert, std::int64_t nowUs);

/// Alerts in the order of the engine: what fires first, then the newest. GUI thread.
class AlertModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Level, Rule, Title, Subject, Run, Since, State, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    /// Those whose texts contain all words of `filter`. `runs`: what users call them, by id.
    void setAlerts(const std::vector<app::AlertView>& alerts, QHash<QString, QString> runs, const QString& filter,
                   std::int64_t nowUs);
    const app::AlertView& alert(int row) const { return m_alerts[static_cast<std::size_t>(row)]; }
    int rowOf(const std::string& id) const; ///< -1: not shown

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString runName(const app::AlertView& alert) const; ///< its id if it is not known
    bool passes(const app::AlertView& alert, const QStringList& words, std::int64_t nowUs) const;
    QString text(const app::AlertView& alert, int column) const;

    std::vector<app::AlertView> m_alerts;
    QHash<QString, QString> m_runs;
    std::int64_t m_nowUs = 0;
};

} // namespace deltascope::desktop
