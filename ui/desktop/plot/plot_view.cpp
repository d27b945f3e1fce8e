#include "plot/plot_view.h"

#include "look/format.h"
#include "look/look.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace deltascope::desktop {

namespace {

/// Of the plot; as much as labels of the usual size need, more for larger ones.
QMargins around()
{
    constexpr double UsualHeight = 14;
    const double times = std::max(1.0, QFontMetrics(typeFont(Type::Label)).height() / UsualHeight);
    return { qRound(40 * times), qRound(10 * times), 12, qRound(22 * times) };
}

constexpr double DragPixels = 6;

}

PlotView::PlotView(QWidget* parent)
    : Canvas(parent)
{
    setFont(typeFont(Type::Label));
    setAccessibleName(tr("Chart"));
}

void PlotView::setData(PlotData data)
{
    m_data = std::move(data);
    m_table.show(m_data);
    m_laidOut = false;
    update();
}

void PlotView::setCursor(std::optional<std::int64_t> a, std::optional<std::int64_t> b)
{
    if (a == m_a && b == m_b)
        return;
    const bool moved = b != m_b;
    m_a = a;
    m_b = b;
    update();
    if (moved && m_b && hasFocus())
        announceCell(readout(*m_b));
}

void PlotView::setHovered(std::optional<std::int64_t> step)
{
    if (step == m_hovered)
        return;
    m_hovered = step;
    update();
}

void PlotView::setScale(PlotScale scale)
{
    m_scale = scale;
    m_laidOut = false;
    update();
}

void PlotView::setCutting(bool cuts)
{
    m_cuts = cuts;
    m_laidOut = false;
    update();
}

void PlotView::setX(PlotX x)
{
    m_x = x;
    m_laidOut = false;
    update();
}

void PlotView::setSmoothing(double w)
{
    m_smoothing = std::clamp(w, 0.0, 0.999);
    m_laidOut = false;
    update();
}

int PlotView::plotWidth() const { return std::max(40, width() - around().left() - around().right()); }

QString PlotView::readout(std::int64_t step) const
{
    const int row = m_table.rowOf(static_cast<double>(step));
    if (row < 0)
        return tr("no values");
    QStringList parts;
    for (int i = 0; i < m_table.columnCount(); ++i) {
        if (const std::optional<double> value = m_table.value(row, i))
            parts +=
                QStringLiteral("%1 %2").arg(m_data.series[static_cast<std::size_t>(i)].label, m_data.format(*value));
    }
    return tr("step %1: %2").arg(m_table.step(row)).arg(parts.join(QStringLiteral(", ")));
}

QModelIndex PlotView::currentCell() const
{
    const int row = m_b ? m_table.rowOf(static_cast<double>(*m_b)) : -1;
    return row < 0 || m_table.columnCount() == 0 ? QModelIndex() : m_table.index(row, m_table.columnCount() - 1);
}

void PlotView::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        emit stepChosen(m_table.step(cell.row()));
}

std::optional<StepId> PlotView::stepAtCursor() const
{
    return m_mouseInside && m_hovered ? std::optional(StepId { m_data.epoch, *m_hovered }) : std::nullopt;
}

// --- what is drawn ---------------------------------------------------------------------------------------------------

std::vector<double> PlotView::heights() const
{
    std::vector<double> tops;
    if (!m_data.stacked) {
        for (const PlotSeries& series : m_data.series)
            tops.insert(tops.end(), series.columns.max.begin(), series.columns.max.end());
        return tops;
    }
    for (const PlotSeries& series : m_data.series) {
        tops.resize(std::max(tops.size(), series.columns.max.size()), 0.0);
        for (std::size_t i = 0; i < series.columns.max.size(); ++i)
            tops[i] += series.columns.max[i];
    }
    return tops;
}

ValueAxis PlotView::makeAxis() const
{
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    double lowest = HUGE_VAL; // above 0
    double least = HUGE_VAL; // distance from 0
    const auto take = [&](double value) {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
        if (value > 0)
            lowest = std::min(lowest, value);
        if (value != 0)
            least = std::min(least, std::abs(value));
    };
    for (const PlotSeries& series : m_data.series)
        std::for_each(series.columns.min.begin(), series.columns.min.end(), take);
    std::vector<double> tops = heights();
    std::for_each(tops.begin(), tops.end(), take);
    if (m_data.threshold && !m_data.isEmpty())
        take(m_data.threshold->value * 1.3);
    const int wanted = std::max(2, (height() - around().top() - around().bottom()) / 20);
    if (m_scale == PlotScale::Log && lowest < HUGE_VAL && high > 0)
        return makeLogAxis(lowest, high, wanted);
    if (m_scale == PlotScale::SymLog && least < HUGE_VAL)
        return makeSymLogAxis(low, high, least, wanted);
    if (low > high)
        return makeValueAxis(0, 1, true, wanted);
    const bool whole = std::any_of(m_data.series.begin(), m_data.series.end(),
                                   [](const PlotSeries& series) { return series.draw == PlotDraw::Steps; });
    std::erase_if(tops, [](double value) { return !std::isfinite(value); });
    if (const std::optional<double> cut = m_cuts && low >= 0 ? outlierCut(tops) : std::nullopt) {
        ValueAxis axis = makeValueAxis(0, *cut, true, wanted, whole);
        axis.cuts = true;
        return axis;
    }
    ValueAxis axis = makeValueAxis(low, high, m_data.fromZero(), wanted, whole);
    if (low >= 0 && axis.low < 0) // room below must not make up negative values
        axis = makeValueAxis(0, high, true, wanted, whole);
    return axis;
}

void PlotView::layOut()
{
    m_laidOut = true;
    const double half = [this] {
        std::int64_t distance = 0;
        for (const PlotSeries& series : m_data.series) {
            if (series.draw == PlotDraw::Bars)
                distance = std::max(distance, usualDistance(series.columns.x));
        }
        return std::max(1.0, static_cast<double>(distance)) / 2;
    }();
    m_mapping.rect = QRectF(rect().marginsRemoved(around()));
    m_mapping.first = static_cast<double>(m_data.range.first) - half;
    m_mapping.last = std::max(m_mapping.first + 1, static_cast<double>(m_data.range.second) + half);
    m_mapping.clock = m_x != PlotX::Step && m_data.clock && !m_data.clock->isEmpty() ? m_data.clock.get() : nullptr;
    if (m_mapping.clock) {
        m_mapping.firstSeconds = m_mapping.clock->secondsAt(m_mapping.first);
        m_mapping.lastSeconds = m_mapping.clock->secondsAt(m_mapping.last);
        if (m_mapping.lastSeconds <= m_mapping.firstSeconds)
            m_mapping.clock = nullptr; // all at one time
    }
    m_mapping.axis = makeAxis();
    m_layer.setSize(size());
    m_layer.setData(m_data, m_mapping, m_smoothing);
}

void PlotView::lookChanged() { m_laidOut = false; }

void PlotView::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    m_laidOut = false;
}

bool PlotView::hasDot() const
{
    return m_data.series.size() == 1 && m_data.series[0].draw == PlotDraw::Line && !m_data.isEmpty();
}

void PlotView::paint(QPainter& painter, const QRect&)
{
    if (!m_laidOut)
        layOut();
    painter.fillRect(rect(), color(Token::Raised));
    painter.setFont(typeFont(Type::Label));
    if (m_data.isEmpty()) {
        painter.setPen(color(Token::Muted));
        painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         m_data.nothing.isEmpty() ? tr("No values in this range") : m_data.nothing);
        paintFocus(painter, rect());
        return;
    }
    paintGrid(painter);
    m_layer.render(painter);
    m_mapping.clock ? paintTimes(painter) : paintSteps(painter);
    paintMarks(painter);
    paintCut(painter);
    paintLabels(painter);
    paintReadout(painter);
    if (m_pressX && std::abs(m_dragX - *m_pressX) >= DragPixels) {
        QColor shade = color(Token::Accent);
        shade.setAlphaF(0.2F);
        const QRectF& plot = m_mapping.rect;
        const double left = std::clamp(std::min(*m_pressX, m_dragX), plot.left(), plot.right());
        const double right = std::clamp(std::max(*m_pressX, m_dragX), plot.left(), plot.right());
        painter.fillRect(QRectF(left, plot.top(), right - left, plot.height()), shade);
    }
    paintFocus(painter, rect());
}

// --- what the user does ----------------------------------------------------------------------------------------------

std::optional<std::int64_t> PlotView::stepNear(double x) const
{
    const int row = m_table.rowOf(m_mapping.step(x));
    return row < 0 ? std::nullopt : std::optional(m_table.step(row));
}

void PlotView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_pressX = event->position().x();
    m_dragX = *m_pressX;
}

void PlotView::mouseMoveEvent(QMouseEvent* event)
{
    m_mouseInside = true;
    m_dragX = event->position().x();
    emit hovered(stepNear(m_dragX));
    if (m_pressX)
        update();
}

void PlotView::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !m_pressX)
        return;
    const double from = std::min(*m_pressX, event->position().x());
    const double to = std::max(*m_pressX, event->position().x());
    m_pressX.reset();
    update();
    if (to - from < DragPixels) {
        if (const std::optional<std::int64_t> step = stepNear(from))
            emit stepChosen(*step);
        return;
    }
    const std::int64_t first = std::max<std::int64_t>(m_data.limit.first, std::llround(m_mapping.step(from)));
    const std::int64_t last = std::min<std::int64_t>(m_data.limit.second, std::llround(m_mapping.step(to)));
    if (last - first >= 2)
        emit rangeChosen(StepRange { first, last });
}

void PlotView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        emit rangeChosen(std::nullopt);
}

void PlotView::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_mouseInside = false;
    emit hovered(std::nullopt);
}

void PlotView::wheelEvent(QWheelEvent* event)
{
    const QPoint delta = event->angleDelta();
    const int by = delta.y() != 0 ? delta.y() : delta.x();
    const bool wanted = hasFocus() || (event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier));
    if (!wanted || by == 0 || m_data.isEmpty()) {
        event->ignore(); // the page scrolls
        return;
    }
    if (event->modifiers() & Qt::ShiftModifier) {
        const auto width = static_cast<double>(m_data.range.second - m_data.range.first);
        emit rangeChosen(pannedRange(m_data.range, (by > 0 ? -0.1 : 0.1) * width, m_data.limit));
    } else {
        zoom(m_mapping.step(event->position().x()), by > 0 ? 1 / 1.2 : 1.2);
    }
    event->accept();
}

void PlotView::zoom(double center, double factor)
{
    const StepRange range = zoomedRange(m_data.range, center, factor, m_data.limit);
    if (range == m_data.limit)
        emit rangeChosen(std::nullopt);
    else if (range != m_data.range)
        emit rangeChosen(range);
}

bool PlotView::wantsKey(const QKeyEvent& event) const
{
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return false;
    static constexpr std::array<int, 9> Keys { Qt::Key_W,    Qt::Key_S,     Qt::Key_A,     Qt::Key_D, Qt::Key_F,
                                               Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Equal, Qt::Key_0 };
    return std::find(Keys.begin(), Keys.end(), event.key()) != Keys.end();
}

void PlotView::keyPressEvent(QKeyEvent* event)
{
    if (!wantsKey(*event)) {
        Canvas::keyPressEvent(event);
        return;
    }
    const auto width = static_cast<double>(m_data.range.second - m_data.range.first);
    const double center = m_b && *m_b >= m_data.range.first && *m_b <= m_data.range.second
        ? static_cast<double>(*m_b)
        : static_cast<double>(m_data.range.first) + width / 2;
    switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(center, 0.7);
        break;
    case Qt::Key_S:
    case Qt::Key_Minus:
        zoom(center, 1.4);
        break;
    case Qt::Key_A:
        emit rangeChosen(pannedRange(m_data.range, std::min(-1.0, -0.2 * width), m_data.limit));
        break;
    case Qt::Key_D:
        emit rangeChosen(pannedRange(m_data.range, std::max(1.0, 0.2 * width), m_data.limit));
        break;
    default:
        emit rangeChosen(std::nullopt);
        break;
    }
}

} // namespace deltascope::desktop
