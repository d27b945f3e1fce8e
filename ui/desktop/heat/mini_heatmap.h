#pragma once

#include "canvas/canvas.h"
#include "heat/layer_heat.h"

#include <QImage>

namespace deltascope::desktop {

class LayerTable;

/// Layers by steps, for the page Live: one row per layer, one column per version. A click or Enter opens the heatmap at
/// that step. GUI thread.
class MiniHeatmap final : public Canvas {
    Q_OBJECT

public:
    explicit MiniHeatmap(QWidget* parent = nullptr);
    ~MiniHeatmap() override;

    /// `picture`: of `heat`, for the pixels of plotWidth(). Null: nothing is known yet.
    void setHeat(std::shared_ptr<const LayerHeat> heat, LayerPicture picture = {});
    int plotWidth() const;
    void setCursor(std::optional<std::int64_t> b);

    QAbstractItemModel* table() override;
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize minimumSizeHint() const override { return { 240, 100 }; }
    QSize sizeHint() const override { return { 800, 132 }; }

signals:
    void stepChosen(std::int64_t step);
    void opened(); ///< the heatmap is wanted

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override;
    bool event(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRect box() const; ///< of the cells
    void makeImage();
    std::optional<std::size_t> columnAt(double x) const;
    std::optional<std::size_t> layerAt(double y) const;
    QString cellText(std::size_t layer, std::size_t column) const;
    void paintLayers(QPainter& painter, const QRect& box) const;
    void paintSteps(QPainter& painter, const QRect& box) const;

    std::shared_ptr<const LayerHeat> m_heat;
    LayerPicture m_picture;
    std::unique_ptr<LayerTable> m_table;
    QImage m_image; ///< null: to be made
    std::optional<std::int64_t> m_b;
    std::size_t m_layer = 0; ///< of the keyboard
    std::optional<std::size_t> m_hovered; ///< column
};

/// The colors of a heatmap and what is not on the scale; stands in the header of its card. GUI thread.
class HeatLegend final : public QWidget {
    Q_OBJECT

public:
    explicit HeatLegend(QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace deltascope::desktop
