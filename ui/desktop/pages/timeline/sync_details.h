#pragma once

#include "pages/timeline/sync_spans.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QTableView;

namespace deltascope::desktop {

/// The chosen bar: its pause and what it is made of. GUI thread.
class SyncDetails final : public QFrame {
    Q_OBJECT

public:
    explicit SyncDetails(QWidget* parent = nullptr);

    /// Of a step without a sync the newest one before it. `engine`: of the replica; may be empty.
    void show(const TimelineModel& model, std::int64_t step, const QString& engine);
    /// One line for a log or a chat: "step 1217 r2: total 14.00 s, paused 4.01 s; upload 8.10 s, …"
    static QString asText(const app::BarView& bar);

signals:
    void traceWanted();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    SyncSpans m_spans;
    QLabel* m_title;
    QLabel* m_paused;
    QLabel* m_pausedUnit;
    QLabel* m_usual;
    QLabel* m_total;
    QLabel* m_engine;
    QLabel* m_spansTitle;
    QTableView* m_table;
    QLabel* m_nothing;
    QWidget* m_facts;
    QPushButton* m_copy;
    QString m_text; ///< to copy
};

} // namespace deltascope::desktop
