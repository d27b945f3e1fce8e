#pragma once

#include "deltascope/app/view/timeline_view.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// Pauses of the steps that are shown, in one line: sum, share of wall time, p50, p95, and the worst with a way to it.
class PauseSummary final : public QWidget {
    Q_OBJECT

public:
    explicit PauseSummary(QWidget* parent = nullptr);
    /// `range`: "Steps 1195 – 1234, 40 versions".
    void show(const app::PauseSummaryView& summary, const QString& range);
    QString text() const; ///< all of it, for tests and screen readers

signals:
    void stepWanted(std::int64_t step);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    QWidget* m_mark; ///< hidden without pauses, as the numbers
    QLabel* m_title;
    QWidget* m_numbers;
    QLabel* m_sum;
    QLabel* m_share;
    QLabel* m_p50;
    QLabel* m_p95;
    QLabel* m_worst;
    QPushButton* m_go;
    QLabel* m_range;
    std::int64_t m_worstStep = 0;
};

} // namespace deltascope::desktop
