#pragma once

#include "canvas/canvas.h"
#include "plot/plot_data.h"
#include "plot/plot_series.h"
#include "plot/plot_table.h"

#include <optional>

namespace deltascope::desktop {

/// A chart over steps. A drag chooses a range, the wheel zooms at the pointer while the chart has the focus or Ctrl is
/// held, with Shift it pans, a double click resets, a click sets B. Keys: W S zoom, A D pan, F fits. The chart changes
/// nothing itself: it says what the user wants. GUI thread.
class PlotView final : public Canvas {
    Q_OBJECT

public:
    explicit PlotView(QWidget* parent = nullptr);

    void setData(PlotData data); ///< format must be set
    const PlotData& data() const { return m_data; }
    void setCursor(std::optional<std::int64_t> a, std::optional<std::int64_t> b);
    /// The crosshair that all charts share; nothing: none.
    void setHovered(std::optional<std::int64_t> step);
    void setScale(PlotScale scale);
    PlotScale scale() const { return m_scale; }
    /// A linear axis ends above the usual values; what is higher is cut and says how high it is.
    void setCutting(bool cuts);
    bool cutsOutliers() const { return m_cuts; }
    /// By steps where times are not known.
    void setX(PlotX x);
    PlotX x() const { return m_x; }
    void setSmoothing(double w); ///< [0, 1)
    double smoothing() const { return m_smoothing; }
    /// Pixels on which values are drawn: what series should be decimated for.
    int plotWidth() const;
    /// The values at a step as text, "step 12: r0 1, r1 0".
    QString readout(std::int64_t step) const;

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;

    QSize sizeHint() const override { return { 320, 128 }; }
    QSize minimumSizeHint() const override { return { 160, 92 }; }

signals:
    void stepChosen(std::int64_t step);
    void rangeChosen(std::optional<deltascope::desktop::StepRange> range);
    void hovered(std::optional<std::int64_t> step);

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void layOut();
    ValueAxis makeAxis() const;
    std::vector<double> heights() const; ///< of each column of pixels the highest value, of a stack the sum
    bool hasDot() const; ///< of the newest value: where the chart is one line
    std::optional<std::int64_t> stepNear(double x) const;
    void zoom(double center, double factor);
    void paintGrid(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    void paintTimes(QPainter& painter) const;
    void paintCut(QPainter& painter) const;
    void paintLabels(QPainter& painter) const;
    void paintReadout(QPainter& painter) const;

    PlotData m_data;
    PlotTable m_table;
    PlotLayer m_layer;
    PlotMapping m_mapping;
    std::optional<std::int64_t> m_a;
    std::optional<std::int64_t> m_b;
    std::optional<std::int64_t> m_hovered;
    std::optional<double> m_pressX;
    double m_dragX = 0;
    double m_smoothing = 0;
    PlotX m_x = PlotX::Step;
    PlotScale m_scale = PlotScale::Linear;
    bool m_cuts = false;
    bool m_mouseInside = false;
    bool m_laidOut = false;
};

} // namespace deltascope::desktop
