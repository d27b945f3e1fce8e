#pragma once

#include "bridge/question.h"
#include "pages/heatmap/block_canvas.h"
#include "pages/heatmap/tensor_target.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace deltascope::desktop {

class ReadsNote;
class ScaleTools;

/// Where inside of one tensor a step changed elements: blocks, rows and columns, and what they say. By default it
/// follows the cursor of the window (B, on request against A); a fixed pair of steps can be shown instead. What was
/// shown stays until the new is there. GUI thread.
class BlockView final : public QWidget {
    Q_OBJECT

public:
    /// `context` outlives it.
    explicit BlockView(PageContext& context, QWidget* parent = nullptr);

    void setTensor(const std::string& name); ///< at the cursor; empty: nothing
    void setPair(const std::string& name, const StepId& step, const StepId& against); ///< fixed
    const std::string& tensor() const { return m_tensor; }
    /// Of what is wanted now; nothing without a tensor or a step.
    std::optional<TensorTarget> target() const;
    const BlocksPointer& blocks() const { return m_blocks; } ///< null: not there yet
    BlockCanvas* canvas() { return m_canvas; }

signals:
    void elementsWanted(quint64 row, quint64 column);
    void upWanted();
    void shown(); ///< blocks() is another one

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void update();
    void take(const Result<app::JobResult>& result);
    void showFacts();
    void showTools();
    void showCell();
    QWidget* makeTools();
    QWidget* makeFacts();

    PageContext& m_context;
    Question m_question;
    std::string m_tensor;
    std::optional<std::pair<StepId, StepId>> m_pair;
    std::optional<TensorTarget> m_asked; ///< whose blocks are here or on their way
    BlocksPointer m_blocks;

    BlockCanvas* m_canvas;
    QWidget* m_facts; ///< hidden where there is no room
    QWidget* m_tools;
    ScaleTools* m_scale;
    QToolButton* m_previous;
    QToolButton* m_next;
    QLabel* m_step;
    QPushButton* m_versusA;
    QLabel* m_problem;
    ReadsNote* m_reads;
    QLabel* m_cell;
    QLabel* m_shape;
    QLabel* m_share;
    QLabel* m_values[6];
    QLabel* m_topTitle;
    QVBoxLayout* m_topRows;
};

} // namespace deltascope::desktop
