#pragma once

#include "bridge/question.h"
#include "pages/heatmap/tensor_target.h"
#include "pages/tensors/histogram_canvas.h"
#include "pages/tensors/moved_canvas.h"
#include "pages/tensors/values_history_canvas.h"
#include "pages/tensors/values_table.h"

#include <QTimer>
#include <QWidget>

#include <functional>

class QLabel;
class QPushButton;
class QTreeView;
class QVBoxLayout;

namespace deltascope::desktop {

class ReadsNote;
class Segments;

/// The values of one tensor at B, and against A or what B builds on: computed when the user asks, behind a
/// statement of how much that reads. Another step or tensor takes the result away. GUI thread.
class ValuesPanel final : public QWidget {
    Q_OBJECT

public:
    /// `context` outlives it.
    explicit ValuesPanel(PageContext& context, QWidget* parent = nullptr);

    void setTensor(const std::string& name); ///< empty: none
    const StatisticsPointer& statistics() const { return m_statistics; } ///< null: not computed
    /// The canvas that has the focus; null: none.
    Canvas* focusedCanvas() const;

    QPushButton* computeButton() { return m_compute; }
    QPushButton* historyButton() { return m_computeHistory; }
    QLabel* problem() { return m_problem; }
    ValuesTable& table() { return m_table; }
    HistogramCanvas* histogram() { return m_histogram; }
    MovedCanvas* moved() { return m_moved; }
    ValuesHistoryCanvas* history() { return m_history; }

    QSize sizeHint() const override { return { 320, 600 }; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeResult();
    void makeConnections();
    void update();
    void clear();
    void askCosts();
    void askCost(std::uint32_t steps, std::optional<app::StatisticsCostView>& cost, const std::function<void()>& then);
    void compute();
    void computeHistory();
    void cancel();
    void showState();
    void showProblem(const Error& error);
    void copy() const;
    std::optional<TensorTarget> target() const;
    std::optional<app::TensorRequest> request() const;

    PageContext& m_context;
    QTimer m_askLater; ///< quick moves of the cursor ask nothing
    Question m_costs;
    Question m_work;
    Question m_historyWork;
    std::string m_tensor;
    std::optional<TensorTarget> m_target; ///< whose costs are here or on their way
    std::optional<app::StatisticsCostView> m_cost;
    std::optional<app::StatisticsCostView> m_historyCost;
    StatisticsPointer m_statistics;
    std::optional<TensorTarget> m_statisticsOf;
    ValuesHistoryPointer m_past;
    std::optional<TensorTarget> m_pastOf;

    ValuesTable m_table;
    QLabel* m_about;
    QPushButton* m_compute;
    QPushButton* m_cancel;
    QLabel* m_problem;
    ReadsNote* m_reads;
    QWidget* m_result;
    QTreeView* m_list;
    Segments* m_forms;
    HistogramCanvas* m_histogram;
    QWidget* m_movedPart;
    MovedCanvas* m_moved;
    QLabel* m_historyTitle;
    QPushButton* m_computeHistory;
    ValuesHistoryCanvas* m_history;
    ReadsNote* m_historyReads;
};

} // namespace deltascope::desktop
