#pragma once

#include "canvas/canvas.h"
#include "pages/timeline/lanes_painter.h"
#include "pages/timeline/spans_table.h"

namespace deltascope::desktop {

/// What each actor did when. The wheel and W S zoom at the pointer, a drag or A D pans, F shows the chosen step, a
/// click on a span chooses its step. Zooms and pans are asked for by windowWanted(). GUI thread.
class LanesCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit LanesCanvas(QWidget* parent = nullptr);

    /// Keeps what is seen, unless nothing of it is left.
    void setModel(TimelinePointer model);
    /// Moves to the step if it is not in view.
    void setSelected(std::optional<StepId> step);
    const TimeWindow& window() const { return m_scene.window; }
    void setWindow(const TimeWindow& window); ///< cut to what is known

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override { return m_selected; }
    bool wantsKey(const QKeyEvent& event) const override;

    QSize sizeHint() const override { return { 640, 280 }; }
    QSize minimumSizeHint() const override;

signals:
    void stepChosen(std::int64_t step);
    void windowWanted(const deltascope::desktop::TimeWindow& window);

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void layOut();
    void reveal(); ///< the chosen step, once it is known when it was
    void zoom(double x, double factor);
    void pan(double pixels); ///< content moves by so much
    std::optional<TimeWindow> ownWindow() const; ///< around the chosen step
    TimeWindow cut(TimeWindow window) const;

    LaneScene m_scene;
    SpansTable m_table;
    std::optional<StepId> m_selected;
    std::optional<double> m_pressX;
    bool m_panned = false;
    bool m_reveals = false; ///< the step was chosen and is not in view yet
};

} // namespace deltascope::desktop
