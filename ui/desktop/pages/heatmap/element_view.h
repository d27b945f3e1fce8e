#pragma once

#include "bridge/question.h"
#include "pages/heatmap/element_canvas.h"
#include "pages/heatmap/element_model.h"
#include "pages/heatmap/tensor_target.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QTableView;
class QToolButton;

namespace deltascope::desktop {

class ReadsNote;

/// Old and new bits of the elements of a window of one tensor, as a table and as a map of the changes. GUI thread.
class ElementView final : public QWidget {
    Q_OBJECT

public:
    static constexpr std::uint64_t Side = 64; ///< elements per side of the window

    explicit ElementView(PageContext& context, QWidget* parent = nullptr);

    /// Shows the window that begins at an element. `rows` x `columns`: of the whole tensor.
    void show(const TensorTarget& target, std::uint64_t row, std::uint64_t column, std::uint64_t rows,
              std::uint64_t columns);
    void clear();
    ElementModel& model() { return m_model; }
    QTableView* table() { return m_table; }
    ElementCanvas* canvas() { return m_canvas; }
    QString place() const; ///< "rows from 0, columns from 64"

signals:
    void upWanted();
    void moved(); ///< place() is another one

private:
    void ask();
    void take(const Result<app::JobResult>& result);
    void go(int rows, int columns);
    void copy();
    void showState();

    PageContext& m_context;
    Question m_question;
    ElementModel m_model;
    std::optional<TensorTarget> m_target;
    std::uint64_t m_row = 0, m_column = 0; ///< of the window
    std::uint64_t m_rows = 0, m_columns = 0; ///< of the tensor
    QTableView* m_table;
    ElementCanvas* m_canvas;
    QToolButton* m_moves[4]; ///< up, down, left, right
    QCheckBox* m_onlyChanged;
    QLabel* m_says;
    QLabel* m_problem;
    ReadsNote* m_reads;
};

} // namespace deltascope::desktop
