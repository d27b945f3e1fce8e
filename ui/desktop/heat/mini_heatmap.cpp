#include "heat/mini_heatmap.h"

#include "heat/heat_scale.h"
#include "heat/layer_table.h"
#include "look/format.h"
#include "look/look.h"
#include "plot/plot_axis.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int GutterWidth = 48; ///< means of the layers
constexpr int LegendBar = 120;

}

MiniHeatmap::MiniHeatmap(QWidget* parent)
    : Canvas(parent)
    , m_table(std::make_unique<LayerTable>())
{
    setFont(typeFont(Type::Label));
    setAccessibleName(tr("Heatmap of layers"));
    connect(&HeatScale::shared(), &HeatScale::changed, this, [this] {
        m_image = {};
        update();
    });
}

MiniHeatmap::~MiniHeatmap() = default;

void MiniHeatmap::setHeat(std::shared_ptr<const LayerHeat> heat, LayerPicture picture)
{
    m_heat = std::move(heat);
    m_picture = std::move(picture);
    m_table->setHeat(m_heat);
    m_image = {};
    m_layer = m_heat && !m_heat->layers.empty() ? std::min(m_layer, m_heat->layers.size() - 1) : 0;
    if (m_heat)
        setAccessibleName(tr("Heatmap, %1 layers by %2 steps").arg(m_heat->layers.size()).arg(m_heat->columns.size()));
    update();
}

void MiniHeatmap::setCursor(std::optional<std::int64_t> b)
{
    if (b == m_b)
        return;
    m_b = b;
    update();
    const QModelIndex cell = currentCell();
    if (hasFocus() && cell.isValid())
        announceCell(cellText(m_layer, static_cast<std::size_t>(cell.column())));
}

QAbstractItemModel* MiniHeatmap::table() { return m_table.get(); }

QModelIndex MiniHeatmap::currentCell() const
{
    if (!m_heat || !m_b)
        return {};
    const std::optional<std::size_t> column = m_heat->columnOf(*m_b);
    return column ? m_table->index(static_cast<int>(m_layer), static_cast<int>(*column)) : QModelIndex();
}

void MiniHeatmap::setCurrentCell(const QModelIndex& cell)
{
    if (!cell.isValid() || !m_heat)
        return;
    m_layer = static_cast<std::size_t>(cell.row());
    emit stepChosen(m_heat->columns[static_cast<std::size_t>(cell.column())].step);
    update();
}

std::optional<StepId> MiniHeatmap::stepAtCursor() const
{
    if (!m_heat || !m_hovered || *m_hovered >= m_heat->columns.size())
        return std::nullopt;
    return StepId { m_heat->epoch, m_heat->columns[*m_hovered].step };
}

QString MiniHeatmap::cellText(std::size_t layer, std::size_t column) const
{
    const LayerHeat::Column& at = m_heat->columns[column];
    const QString share = at.codes ? shareText(app::heatShare((*at.codes)[layer])) : tr("unknown");
    return tr("%1, step %2, %3").arg(m_heat->layers[layer].label).arg(at.step).arg(share);
}

// --- painting --------------------------------------------------------------------------------------------------------

QRect MiniHeatmap::box() const
{
    const int left = std::clamp(width() / 10, 60, 112);
    return rect().adjusted(left, 2, -GutterWidth - 20, -22);
}

int MiniHeatmap::plotWidth() const { return std::max(1, box().width()); }

void MiniHeatmap::makeImage()
{
    const ColorTable& table = HeatScale::shared().table();
    const auto layers = static_cast<int>(m_heat->layers.size());
    m_image = QImage(static_cast<int>(m_picture.width), layers, QImage::Format_ARGB32_Premultiplied);
    for (int y = 0; y < layers; ++y) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(y));
        for (std::size_t x = 0; x < m_picture.width; ++x) {
            const std::size_t at = static_cast<std::size_t>(y) * m_picture.width + x;
            line[x] = m_picture.known[at] ? table[m_picture.codes[at]] : qRgba(0, 0, 0, 0);
        }
    }
}

void MiniHeatmap::lookChanged() { m_image = {}; }

void MiniHeatmap::paint(QPainter& painter, const QRect&)
{
    painter.fillRect(rect(), color(Token::Raised));
    if (!m_heat || m_heat->layers.empty() || m_picture.width == 0) {
        painter.setPen(color(Token::Muted));
        painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("No changes per tensor yet. They appear once the first deltas have been read."));
        paintFocus(painter, rect());
        return;
    }
    const QRect cells = box();
    if (m_image.isNull())
        makeImage();
    paintUnknown(painter, cells);
    painter.drawImage(cells, m_image);
    paintLayers(painter, cells);
    paintSteps(painter, cells);
    paintFocus(painter, rect());
}

/// Names at the left as far as they have room, means at the right.
void MiniHeatmap::paintLayers(QPainter& painter, const QRect& box) const
{
    const std::size_t count = m_heat->layers.size();
    const double each = static_cast<double>(box.height()) / static_cast<double>(count);
    const QFontMetrics metrics(painter.font());
    const auto every = static_cast<std::size_t>(
        std::max({ 1.0, std::ceil((metrics.height() + 2) / each), std::ceil(static_cast<double>(count) / 6) }));
    double most = 1e-12;
    for (const LayerHeat::Layer& layer : m_heat->layers)
        most = std::max(most, layer.mean);
    for (std::size_t i = 0; i < count; ++i) {
        const double top = box.top() + static_cast<double>(i) * each;
        painter.fillRect(
            QRectF(box.right() + 11, top, m_heat->layers[i].mean / most * GutterWidth, std::max(1.0, each - 1)),
            color(Token::OtherSeries));
        if (i % every != 0)
            continue;
        painter.setPen(color(Token::Muted));
        const double y =
            std::clamp(top + each / 2, box.top() + metrics.height() / 2.0, box.bottom() + 1 - metrics.height() / 2.0);
        painter.drawText(QRectF(8, y - metrics.height() / 2.0, box.left() - 16, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter,
                         metrics.elidedText(m_heat->layers[i].label, Qt::ElideMiddle, box.left() - 16));
    }
}

void MiniHeatmap::paintSteps(QPainter& painter, const QRect& box) const
{
    const std::size_t count = m_heat->columns.size();
    const double each = static_cast<double>(box.width()) / static_cast<double>(count);
    const QFontMetrics metrics(painter.font());
    const auto middle = [&](std::size_t i) { return box.left() + (static_cast<double>(i) + 0.5) * each; };
    std::size_t anchors = 0;
    for (const LayerHeat::Column& column : m_heat->columns)
        anchors += column.anchor;
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < count; ++i) {
        if (!m_heat->columns[i].anchor || static_cast<double>(anchors) * 8 > box.width())
            continue;
        const QPointF at(middle(i), box.bottom() + 5);
        const QPointF diamond[] = { at + QPointF(0, -3), at + QPointF(3, 0), at + QPointF(0, 3), at + QPointF(-3, 0) };
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(Token::Muted));
        painter.drawConvexPolygon(diamond, 4);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    const double baseline = box.bottom() + 9 + metrics.ascent();
    double free = box.left();
    const auto label = [&](std::size_t i) {
        const QString text = QString::number(m_heat->columns[i].step);
        const double width = metrics.horizontalAdvance(text);
        const double left = std::clamp(middle(i) - width / 2, box.left() + 0.0, box.right() + 1.0 - width);
        if (left < free)
            return;
        painter.drawText(QPointF(left, baseline), text);
        free = left + width + 12;
    };
    painter.setPen(color(Token::Muted));
    const auto steps = static_cast<double>(m_heat->columns.back().step - m_heat->columns.front().step + 1);
    const auto distance = static_cast<std::int64_t>(std::max(1.0, roundDistance(90 * steps / box.width())));
    for (std::size_t i = 0; i < count; ++i) {
        if (m_heat->columns[i].step % distance == 0)
            label(i);
    }
    if (free == box.left()) // no round one among them
        label(0);
    const std::optional<std::size_t> b = m_b ? m_heat->columnOf(*m_b) : std::nullopt;
    if (b && m_heat->columns[*b].step == *m_b) {
        const QRectF frame(std::round(box.left() + static_cast<double>(*b) * each) - 1, box.top() - 1,
                           std::max(3.0, std::round(each) + 1), box.height() + 1);
        painter.setPen(color(Token::Accent));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(frame);
    }
}

// --- what the user does ----------------------------------------------------------------------------------------------

std::optional<std::size_t> MiniHeatmap::columnAt(double x) const
{
    const QRect cells = box();
    if (!m_heat || m_heat->columns.empty() || x < cells.left() || x > cells.right() + 1)
        return std::nullopt;
    const auto count = static_cast<double>(m_heat->columns.size());
    return std::min(m_heat->columns.size() - 1, static_cast<std::size_t>((x - cells.left()) / cells.width() * count));
}

std::optional<std::size_t> MiniHeatmap::layerAt(double y) const
{
    const QRect cells = box();
    if (!m_heat || m_heat->layers.empty() || y < cells.top() || y > cells.bottom() + 1)
        return std::nullopt;
    const auto count = static_cast<double>(m_heat->layers.size());
    return std::min(m_heat->layers.size() - 1, static_cast<std::size_t>((y - cells.top()) / cells.height() * count));
}

bool MiniHeatmap::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return Canvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::optional<std::size_t> column = columnAt(help->pos().x());
    const std::optional<std::size_t> layer = layerAt(help->pos().y());
    if (column && layer)
        QToolTip::showText(help->globalPos(), cellText(*layer, *column), this);
    else
        QToolTip::hideText();
    return true;
}

void MiniHeatmap::mouseMoveEvent(QMouseEvent* event) { m_hovered = columnAt(event->position().x()); }

void MiniHeatmap::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_hovered.reset();
}

void MiniHeatmap::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !rect().contains(event->position().toPoint()))
        return;
    if (const std::optional<std::size_t> column = columnAt(event->position().x()))
        emit stepChosen(m_heat->columns[*column].step);
    emit opened();
}

bool MiniHeatmap::wantsKey(const QKeyEvent& event) const
{
    return event.modifiers() == Qt::NoModifier
        && (event.key() == Qt::Key_Up || event.key() == Qt::Key_Down || event.key() == Qt::Key_Return
            || event.key() == Qt::Key_Enter);
}

void MiniHeatmap::keyPressEvent(QKeyEvent* event)
{
    if (!wantsKey(*event) || !m_heat || m_heat->layers.empty()) {
        Canvas::keyPressEvent(event);
        return;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        emit opened();
        return;
    }
    if (event->key() == Qt::Key_Up)
        m_layer -= m_layer > 0;
    else
        m_layer = std::min(m_layer + 1, m_heat->layers.size() - 1);
    const QModelIndex cell = currentCell();
    if (cell.isValid())
        announceCell(cellText(m_layer, static_cast<std::size_t>(cell.column())));
}

// --- legend ----------------------------------------------------------------------------------------------------------

HeatLegend::HeatLegend(QWidget* parent)
    : QWidget(parent)
{
    setFont(typeFont(Type::Label));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(tr("Color scale of changed shares"));
    connect(&HeatScale::shared(), &HeatScale::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize HeatLegend::sizeHint() const
{
    const HeatWindow& window = HeatScale::shared().colors().window;
    const QFontMetrics metrics = fontMetrics();
    return { metrics.horizontalAdvance(shareText(window.low) + shareText(window.high) + tr("zero") + tr("unknown"))
                 + LegendBar + 6 * 4 + 2 * (12 + 16),
             metrics.height() };
}

void HeatLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const HeatColors& colors = HeatScale::shared().colors();
    const QFontMetrics metrics = fontMetrics();
    const int baseline = (height() + metrics.ascent() - metrics.descent()) / 2;
    const int top = height() / 2 - 5;
    int x = 0;
    const auto text = [&](const QString& words) {
        painter.setPen(color(Token::Muted));
        painter.drawText(x, baseline, words);
        x += metrics.horizontalAdvance(words) + 6;
    };
    text(shareText(colors.window.low));
    for (int i = 0; i < LegendBar; ++i)
        painter.fillRect(x + i, top, 1, 10,
                         QColor::fromRgba(colorAt(colors.map, static_cast<double>(i) / (LegendBar - 1))));
    x += LegendBar + 6;
    text(shareText(colors.window.high));
    x += 6;
    painter.setPen(color(Token::StrongBorder));
    painter.setBrush(color(Token::ZeroCell));
    painter.drawRect(x, top, 9, 9);
    x += 16;
    text(tr("zero"));
    x += 6;
    paintUnknown(painter, { x, top, 10, 10 });
    x += 16;
    text(tr("unknown"));
}

} // namespace deltascope::desktop
