#pragma once

#include "bridge/service_bridge.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace deltascope::desktop {

class TextTable;

/// "2 of 3 replicas serve step 17": as their heartbeats say.
QString loadedText(const std::vector<app::ReplicaView>& replicas, std::int64_t step);
/// Whether a replica has loaded it, by its own word.
QString loadedWords(const app::ReplicaView& replica, std::int64_t step);

/// How a roll back goes on, what it has written, and who has loaded it. GUI thread.
class RollBackOutcome final : public QWidget {
    Q_OBJECT

public:
    RollBackOutcome(ServiceBridge& bridge, app::TaskView task, QWidget* parent = nullptr);

signals:
    void closeWanted();
    void undoWanted();

private:
    void take(const app::TaskView& task);
    void showTask();
    void showDone(const app::RollBackView& done);
    void showReplicas();

    ServiceBridge& m_bridge;
    app::TaskView m_task;
    RunPointer m_run;
    QLabel* m_headline;
    QLabel* m_text;
    QProgressBar* m_progress;
    QLabel* m_keys;
    QLabel* m_loaded;
    TextTable* m_replicas;
    QPushButton* m_undo;
};

} // namespace deltascope::desktop
