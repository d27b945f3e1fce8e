#pragma once

#include "plot/plot_axis.h"
#include "plot/plot_data.h"

#include <QGraphicsScene>
#include <QImage>
#include <QRectF>

#include <memory>
#include <vector>

class QAbstractSeries;
class QAreaSeries;
class QChart;
class QLineSeries;
class QPainter;
class QValueAxis;

namespace deltascope::desktop {

/// From steps and values to pixels of a chart.
struct PlotMapping {
    QRectF rect; ///< that the values are drawn in
    double first = 0; ///< step at its left edge
    double last = 1; ///< and at its right one
    const StepClock* clock = nullptr; ///< lays out by time; null: all steps are equally wide
    double firstSeconds = 0; ///< of the clock at both edges
    double lastSeconds = 1;
    ValueAxis axis;

    double x(double step) const;
    double y(double value) const;
    double step(double x) const;
};

/// The lines and bars of one chart, drawn by Qt Charts; axes and marks are not its business. It is fed with decimated
/// columns only: a line is one Qt series per stretch without a hole, all bars of one color are one area. Only stretches
/// with several values in most pixels are filled columns, because a stroke through all of them costs 20 ms. GUI thread.
class PlotLayer final {
public:
    PlotLayer();
    ~PlotLayer();

    void setSize(const QSize& size);
    /// `smoothing`: 0 for none, else the weight of what came before; the raw line stays visible below. Points that have
    /// no neighbor, and those of the last stretches where there are very many, are left for dots().
    void setData(const PlotData& data, const PlotMapping& mapping, double smoothing);
    /// Draws the chart anew only if something of it changed.
    void render(QPainter& painter);

    struct Dot {
        QPointF at;
        Token token;
    };
    const std::vector<Dot>& dots() const { return m_dots; }

private:
    struct Shape; ///< one series of Qt to be
    void addLine(std::vector<Shape>& shapes, const PlotSeries& series, double smoothing);
    void addStretches(std::vector<Shape>& shapes, const PlotSeries& series, const std::vector<double>& values,
                      bool envelope, const QColor& color, double width);
    void addColumns(const app::SeriesColumns& columns, std::size_t begin, std::size_t end, const QColor& color);
    void addBars(std::vector<Shape>& shapes, const PlotData& data);
    void show(const std::vector<Shape>& shapes);

    PlotMapping m_mapping;
    QImage m_picture; ///< null: to be drawn
    std::vector<Dot> m_dots;
    struct Column {
        QRectF rect;
        QColor color;
    };
    std::vector<Column> m_columns;
    QGraphicsScene m_scene;
    QChart* m_chart; ///< owned by the scene
    QValueAxis* m_x;
    QValueAxis* m_y;
    struct Drawn {
        QLineSeries* line = nullptr; ///< of an area its upper edge
        QAreaSeries* area = nullptr;
    };
    std::vector<Drawn> m_drawn; ///< owned by the chart
};

} // namespace deltascope::desktop
