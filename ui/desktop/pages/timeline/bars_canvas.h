#pragma once

#include "canvas/canvas.h"
#include "pages/timeline/bars_painter.h"
#include "pages/timeline/bars_table.h"

namespace deltascope::desktop {

/// One bar per version. A click chooses a step, a drag a range; the wheel and W S zoom, A D pan, F fits, a double
/// click resets. Changes nothing itself: it says what the user wants. GUI thread.
class BarsCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit BarsCanvas(QWidget* parent = nullptr);

    void setModel(TimelinePointer model);
    void setSelected(std::optional<StepId> step);
    void setUnit(BarUnit unit);
    void setGhost(bool shown);
    /// A bar as a line: "step 12, r2, 14.0 s in all, 4.0 s paused".
    QString readout(std::int64_t step) const;
    QByteArray csv() const { return m_table.csv(); }

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;

    QSize sizeHint() const override { return { 640, 300 }; }
    QSize minimumSizeHint() const override { return { 320, 170 }; }

signals:
    void stepChosen(std::int64_t step);
    void rangeChosen(std::int64_t first, std::int64_t last);
    void zoomed(double place, double factor); ///< `place`: what stays, from 0 (left) to 1
    void panned(int versions); ///< > 0: to newer ones
    void resetWanted();

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    std::optional<std::int64_t> stepAt(double x) const;
    void hover(std::optional<std::int64_t> step);
    void pan(double versions);
    QString toolTipText(std::int64_t step) const;

    BarScene m_scene;
    BarsTable m_table;
    std::optional<StepId> m_selected;
    std::optional<double> m_pressX;
    double m_dragX = 0;
    double m_panRest = 0; ///< versions that are not panned yet
    bool m_doubleClicked = false;
};

} // namespace deltascope::desktop
