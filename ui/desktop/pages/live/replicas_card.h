#pragma once

#include "pages/live/replica_model.h"

#include <QFrame>

class QLabel;
class QTableView;

namespace deltascope::desktop {

/// One row per replica, the worst first. GUI thread.
class ReplicasCard final : public QFrame {
    Q_OBJECT

public:
    explicit ReplicasCard(QWidget* parent = nullptr);
    void setReplicas(std::vector<app::ReplicaHistoryView> replicas);
    QTableView* list() { return m_list; }
    const ReplicaModel& model() const { return *m_model; }

signals:
    void timelineWanted(std::int64_t step); ///< the last sync of a replica

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showMenu(const QPoint& at);
    void fitColumns();

    ReplicaModel* m_model;
    QTableView* m_list;
    QWidget* m_nothing;
};

} // namespace deltascope::desktop
