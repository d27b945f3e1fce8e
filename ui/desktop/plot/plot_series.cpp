#include "plot/plot_series.h"

#include <QAreaSeries>
#include <QChart>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QPen>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostStretches = 40; ///< of one series; each costs a series of Qt
constexpr double RawOpacity = 0.4;

/// Whether most pixels that a stretch covers hold more than one value each.
bool isDense(const app::SeriesColumns& columns, std::size_t begin, std::size_t end, double pixels)
{
    std::size_t several = 0;
    for (std::size_t i = begin; i < end; ++i)
        several += columns.min[i] < columns.max[i] ? 1 : 0;
    return 2 * several > end - begin && pixels < 1.5 * static_cast<double>(end - begin);
}

}

double PlotMapping::x(double step) const
{
    const double share = clock ? (clock->secondsAt(step) - firstSeconds) / (lastSeconds - firstSeconds)
                               : (step - first) / (last - first);
    return rect.left() + share * rect.width();
}
double PlotMapping::y(double value) const { return rect.bottom() - axis.place(value) * rect.height(); }
double PlotMapping::step(double x) const
{
    const double share = (x - rect.left()) / rect.width();
    return clock ? clock->stepAt(firstSeconds + share * (lastSeconds - firstSeconds)) : first + share * (last - first);
}

/// Points are pixels of the plot; y grows upwards, as in a chart.
struct PlotLayer::Shape {
    bool area = false;
    QColor color;
    double width = 1;
    QList<QPointF> points;
};

PlotLayer::PlotLayer()
    : m_chart(new QChart)
    , m_x(new QValueAxis)
    , m_y(new QValueAxis)
{
    m_scene.addItem(m_chart);
    m_chart->legend()->hide();
    m_chart->setBackgroundVisible(false);
    m_chart->setPlotAreaBackgroundVisible(false);
    m_chart->setMargins({});
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_x->setVisible(false); // labels and grid are painted by the view, which knows that they do not collide
    m_y->setVisible(false);
    m_chart->addAxis(m_x, Qt::AlignBottom);
    m_chart->addAxis(m_y, Qt::AlignLeft);
}

PlotLayer::~PlotLayer() = default;

void PlotLayer::setSize(const QSize& size)
{
    m_chart->resize(size);
    m_picture = {};
}

void PlotLayer::setData(const PlotData& data, const PlotMapping& mapping, double smoothing)
{
    m_mapping = mapping;
    m_picture = {};
    m_dots.clear();
    m_columns.clear();
    m_chart->setPlotArea(mapping.rect);
    m_x->setRange(0, std::max(1.0, mapping.rect.width()));
    m_y->setRange(0, std::max(1.0, mapping.rect.height()));
    std::vector<Shape> shapes;
    addBars(shapes, data);
    for (const PlotSeries& series : data.series) {
        if (series.draw != PlotDraw::Bars)
            addLine(shapes, series, series.draw == PlotDraw::Line ? smoothing : 0);
    }
    show(shapes);
    m_chart->layout()->activate();
}

void PlotLayer::addLine(std::vector<Shape>& shapes, const PlotSeries& series, double smoothing)
{
    const QColor ink = color(series.token);
    if (smoothing <= 0) {
        addStretches(shapes, series, series.columns.last, true, ink, series.width);
        return;
    }
    QColor faint = ink;
    faint.setAlphaF(RawOpacity);
    addStretches(shapes, series, series.columns.last, true, faint, 1);
    addStretches(shapes, series, smoothed(series.columns.last, smoothing), false, ink, series.width);
}

/// `envelope`: goes through the lowest and the highest value of a bucket, too.
void PlotLayer::addStretches(std::vector<Shape>& shapes, const PlotSeries& series, const std::vector<double>& values,
                             bool envelope, const QColor& color, double width)
{
    const app::SeriesColumns& columns = series.columns;
    const double bottom = m_mapping.rect.bottom();
    const auto point = [&](double step, double value) {
        return QPointF(m_mapping.x(step) - m_mapping.rect.left(), bottom - m_mapping.y(value));
    };
    std::size_t stretches = 0;
    const auto isFinite = [&](std::size_t i) {
        return std::isfinite(values[i]) && std::isfinite(columns.min[i]) && std::isfinite(columns.max[i]);
    };
    for (const auto& [begin, end] : stretchesOf(columns.x)) {
        if (end - begin == 1 || ++stretches > MostStretches) {
            for (std::size_t i = begin; i < end && color.alpha() == 255; ++i) {
                if (!isFinite(i))
                    continue;
                const auto step = static_cast<double>(columns.x[i]);
                m_dots.push_back({ { m_mapping.x(step), m_mapping.y(values[i]) }, series.token });
            }
            continue;
        }
        const double pixels =
            m_mapping.x(static_cast<double>(columns.x[end - 1])) - m_mapping.x(static_cast<double>(columns.x[begin]));
        if (envelope && isDense(columns, begin, end, pixels)) {
            addColumns(columns, begin, end, color);
            continue;
        }
        Shape shape { false, color, width, {} };
        shape.points.reserve(static_cast<qsizetype>(2 * (end - begin)));
        for (std::size_t i = begin; i < end; ++i) {
            const auto step = static_cast<double>(columns.x[i]);
            if (!isFinite(i))
                continue;
            if (series.draw == PlotDraw::Steps && !shape.points.isEmpty())
                shape.points.append({ point(step, 0).x(), shape.points.back().y() });
            if (envelope && columns.min[i] < columns.max[i]) {
                const bool rises = columns.first[i] <= columns.last[i];
                shape.points.append(point(step, rises ? columns.min[i] : columns.max[i]));
                shape.points.append(point(step, rises ? columns.max[i] : columns.min[i]));
            } else {
                shape.points.append(point(step, values[i]));
            }
        }
        shapes.push_back(std::move(shape));
    }
}

/// A line that goes up and down within each pixel is all that it covers: from the lowest to the highest value, and to
/// where the pixel before has ended.
void PlotLayer::addColumns(const app::SeriesColumns& columns, std::size_t begin, std::size_t end, const QColor& color)
{
    double before = NAN;
    double left = std::floor(m_mapping.x(static_cast<double>(columns.x[begin])));
    for (std::size_t i = begin; i < end; ++i) {
        if (!std::isfinite(columns.min[i]) || !std::isfinite(columns.max[i]))
            continue;
        const double right = std::max(left + 1, std::floor(m_mapping.x(static_cast<double>(columns.x[i])) + 1));
        const double top = m_mapping.y(std::fmax(columns.max[i], before));
        const double bottom = m_mapping.y(std::fmin(columns.min[i], before));
        m_columns.push_back({ QRectF(left, top, right - left, std::max(1.0, bottom - top)), color });
        before = columns.last[i];
        left = right;
    }
}

/// One outline over all bars of a series: up, along, down, and along the bottom to the next one. Edges lie on whole
/// pixels. A stack is drawn from its highest sum down, each part over the one behind.
void PlotLayer::addBars(std::vector<Shape>& shapes, const PlotData& data)
{
    std::vector<Shape> bars;
    std::vector<double> sums;
    for (const PlotSeries& series : data.series) {
        if (series.draw != PlotDraw::Bars)
            continue;
        const app::SeriesColumns& columns = series.columns;
        sums.resize(columns.x.size(), 0.0);
        const double pixels =
            static_cast<double>(usualDistance(columns.x)) / (m_mapping.last - m_mapping.first) * m_mapping.rect.width();
        const double gap = pixels >= 3 ? std::clamp(std::round(pixels * 0.2), 1.0, 4.0) : 0.0;
        Shape shape { true, color(series.token), 0, {} };
        shape.points.reserve(static_cast<qsizetype>(4 * columns.x.size()));
        for (std::size_t i = 0; i < columns.x.size(); ++i) {
            const double value = (data.stacked ? sums[i] : 0) + (std::isfinite(columns.max[i]) ? columns.max[i] : 0);
            sums[i] = value;
            const double center = m_mapping.x(static_cast<double>(columns.x[i])) - m_mapping.rect.left();
            const double left =
                std::max(shape.points.empty() ? 0.0 : shape.points.back().x(), std::round(center - (pixels - gap) / 2));
            const double right = std::max(left + 1, std::round(center + (pixels - gap) / 2));
            const double top = std::round(m_mapping.rect.bottom() - m_mapping.y(value));
            if (gap == 0 && !shape.points.empty() && shape.points.back().x() == left)
                shape.points.removeLast(); // bars that touch need no edge down to zero and up again
            else
                shape.points.append({ left, 0 });
            shape.points.append({ { left, top }, { right, top }, { right, 0 } });
        }
        // Qt's smooth rasterizer keeps the edges that cross a line of pixels in a list from left to right and looks for
        // the place of each new one from the left: from the right it finds it at once, else in quadratic time.
        std::reverse(shape.points.begin(), shape.points.end());
        bars.push_back(std::move(shape));
    }
    std::move(bars.rbegin(), bars.rend(), std::back_inserter(shapes));
}

void PlotLayer::show(const std::vector<Shape>& shapes)
{
    const bool same = std::equal(shapes.begin(), shapes.end(), m_drawn.begin(), m_drawn.end(),
                                 [](const Shape& shape, const Drawn& drawn) { return shape.area == !!drawn.area; });
    if (!same) {
        m_chart->removeAllSeries();
        m_drawn.clear();
        for (const Shape& shape : shapes) {
            Drawn drawn;
            QAbstractSeries* series = nullptr;
            drawn.line = new QLineSeries;
            if (shape.area) {
                drawn.area = new QAreaSeries(drawn.line);
                drawn.line->setParent(drawn.area);
                series = drawn.area;
            } else {
                series = drawn.line;
            }
            m_chart->addSeries(series);
            series->attachAxis(m_x);
            series->attachAxis(m_y);
            m_drawn.push_back(drawn);
        }
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape& shape = shapes[i];
        if (m_drawn[i].area) {
            m_drawn[i].area->setPen(Qt::NoPen);
            m_drawn[i].area->setBrush(shape.color);
        } else {
            m_drawn[i].line->setPen(QPen(shape.color, shape.width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        }
        m_drawn[i].line->replace(shape.points);
    }
}

void PlotLayer::render(QPainter& painter)
{
    const double scale = painter.device()->devicePixelRatioF();
    if (m_picture.isNull() || m_picture.devicePixelRatioF() != scale) {
        const QSizeF size = m_chart->size();
        m_picture = QImage((size * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
        m_picture.setDevicePixelRatio(scale);
        m_picture.fill(Qt::transparent);
        QPainter layer(&m_picture);
        for (const Column& column : m_columns)
            layer.fillRect(column.rect, column.color);
        layer.setRenderHint(QPainter::Antialiasing);
        const QRectF all(QPointF(), size);
        m_scene.render(&layer, all, all, Qt::IgnoreAspectRatio);
    }
    painter.drawImage(QPointF(), m_picture);
}

} // namespace deltascope::desktop
