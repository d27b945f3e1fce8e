#include "heat/heat_canvas.h"

#include "heat/heat_scale.h"
#include "look/format.h"

#include <QHelpEvent>
#include <QResizeEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int TableRestMs = 150;

}

HeatCanvas::HeatCanvas(QWidget* parent)
    : Canvas(parent)
    , m_table(m_model)
{
    setAccessibleName(tr("Heatmap"));
    m_tableSync.setSingleShot(true);
    m_tableSync.setInterval(TableRestMs);
    connect(&m_tableSync, &QTimer::timeout, &m_table, &HeatTable::sync);
    connect(&m_tiles, &TileCache::changed, this, &HeatCanvas::columnsChanged);
    connect(&HeatScale::shared(), &HeatScale::changed, this, [this] {
        lookChanged();
        update();
    });
}

HeatLayout HeatCanvas::layout() const { return HeatLayout::of(size()); }

void HeatCanvas::setPlan(const HeatPlanPointer& plan, bool follow)
{
    m_spark = {};
    const HeatPlanPointer before = m_model.plan();
    const Axis axis = m_model.axis();
    const int scroll = m_model.scroll();
    const std::uint64_t rows = m_model.rowsRevision();
    m_model.setPlan(plan);
    const auto moved = before && plan ? movedColumns(*before, *plan) : std::nullopt;
    if (moved) {
        m_tiles.update(plan->heat, *moved);
    } else {
        m_tiles.reset(plan ? plan->heat : nullptr, plan ? plan->epoch : 0);
        m_cells.forget();
        m_hover.reset();
    }
    m_stripDirty = true;
    if (follow && plan && before && plan->columns > before->columns)
        m_model.showNewest();
    if (plan)
        setAccessibleName(tr("Heatmap, %1 by %2")
                              .arg(pluralText(static_cast<std::uint64_t>(plan->rows()), tr("tensor")),
                                   pluralText(static_cast<std::uint64_t>(plan->columns), tr("step"))));
    Axis grown = axis;
    grown.count = m_model.axis().count;
    hoverGutter(m_gutterMouse);
    if (moved && m_model.axis() == grown && m_model.scroll() == scroll && m_model.rowsRevision() == rows) {
        for (const int column : *moved)
            updateColumn(column);
        const HeatLayout at = layout();
        update(at.lanes.united(at.steps).adjusted(-8, -4, 8, 0));
        update(QRect(0, at.overview.y() - 6, width(), height() - at.overview.y() + 6));
        update(at.gutter.adjusted(0, -40, 0, 0));
        m_tableSync.start();
    } else {
        viewMoved();
    }
    emit cellFocused();
}

void HeatCanvas::setMarks(const HeatMarks& marks)
{
    if (marks.a == m_marks.a && marks.b == m_marks.b)
        return;
    for (const int column : { m_marks.a, m_marks.b, marks.a, marks.b })
        updateColumn(column);
    m_marks = marks;
    update(layout().steps.adjusted(-8, 0, 8, 0));
}

void HeatCanvas::setCellText(const CellText& text)
{
    m_text = text;
    update(layout().status);
}

void HeatCanvas::setZoom(const HeatZoom& zoom)
{
    m_model.setZoom(zoom);
    viewMoved();
}

void HeatCanvas::showSteps(const StepRange& range)
{
    m_model.showSteps(range);
    viewMoved();
}

void HeatCanvas::showNewest()
{
    m_model.showNewest();
    viewMoved();
}

void HeatCanvas::placeTensor(const std::string& name, int column)
{
    if (m_model.placeTensor(name, std::max(0, column)))
        cursorMoved();
}

void HeatCanvas::placeColumn(int column)
{
    if (!m_model.cursor() || column < 0 || m_model.cursor()->column == column)
        return;
    Spot spot = *m_model.cursor();
    spot.column = column;
    m_model.place(spot);
    cursorMoved();
}

void HeatCanvas::setAllOpen(bool open)
{
    m_model.openAll(open);
    viewMoved();
}

QModelIndex HeatCanvas::currentCell() const
{
    return m_model.cursor() ? m_table.indexOf(*m_model.cursor()) : QModelIndex();
}

void HeatCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (const std::optional<Spot> spot = m_table.spotOf(cell)) {
        m_model.place(*spot);
        cursorMoved();
    }
}

std::optional<StepId> HeatCanvas::stepAtCursor() const
{
    const std::optional<Spot> spot = focusedSpot();
    if (!spot || m_model.isEmpty())
        return std::nullopt;
    return m_model.plan()->stepOf(spot->column);
}

// --- what has to be painted ------------------------------------------------------------------------------------------

void HeatCanvas::viewMoved()
{
    m_spark = {}; // its row may be another one
    hoverGutter(m_gutterMouse);
    if (m_hover)
        m_hover = spotAt(m_mouse);
    m_tableSync.start();
    update();
}

void HeatCanvas::move(bool merge, const std::function<void()>& change)
{
    const HeatZoom before = m_model.zoom();
    change();
    if (m_model.zoom() == before)
        return;
    m_fittedSelection = false;
    viewMoved();
    emit zoomed(before, merge);
    emit cellFocused();
}

void HeatCanvas::cursorMoved()
{
    viewMoved();
    emit cellFocused();
    const auto& spot = m_model.cursor();
    if (!spot)
        return;
    const int tensor = m_model.tensorAt(*spot);
    const ViewRow& row = m_model.rows()[static_cast<std::size_t>(spot->row)];
    const auto code = m_model.codeAt(*spot, HeatScale::shared().pool());
    announceCell(tr("%1, step %2, %3")
                     .arg(tensor < 0 ? m_model.labelOf(row) : safeName(m_model.plan()->tensor(tensor).name))
                     .arg(m_model.plan()->column(spot->column).step)
                     .arg(code ? tr("%1 changed").arg(shareText(app::heatShare(*code))) : tr("not known")));
}

void HeatCanvas::columnsChanged(int from, int to)
{
    m_cells.forgetColumns(from, to);
    m_stripDirty = true;
    const HeatLayout at = layout();
    const Axis& axis = m_model.axis();
    const int left = static_cast<int>(std::floor(axis.toPixel(from))) - 2;
    const int right = static_cast<int>(std::ceil(axis.toPixel(to))) + 2;
    update(QRect(at.plot.x() + left, at.plot.y(), right - left, at.plot.height()).intersected(at.plot));
    update(at.overview.adjusted(-2, -2, 2, 2));
}

void HeatCanvas::updateColumn(int column)
{
    if (column < 0)
        return;
    const HeatLayout at = layout();
    const Axis& axis = m_model.axis();
    const int left = static_cast<int>(std::floor(axis.toPixel(column))) - 3;
    const int right = static_cast<int>(std::ceil(axis.toPixel(column + 1))) + 3;
    update(QRect(at.plot.x() + left, at.plot.y() - 2, right - left, at.plot.height() + 4));
}

void HeatCanvas::lookChanged()
{
    m_cells.forget();
    m_stripDirty = true;
}

void HeatCanvas::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    const HeatLayout at = layout();
    m_model.resize(at.plot.width(), at.plot.height());
    viewMoved();
}

void HeatCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    const HeatLayout at = layout();
    const QRect above = at.lanes.united(at.steps).united(QRect(0, 0, width(), at.plot.y()));
    HeatScale& scale = HeatScale::shared();
    if (exposed.intersects(at.plot))
        m_cells.paint(painter, at.plot, m_model, m_tiles, scale.pool(), scale.table());
    if (exposed.intersects(above)) {
        paintLanes(painter, at.lanes, m_model);
        paintSteps(painter, at.steps, m_model, m_marks);
    }
    if (exposed.intersects(at.tree))
        paintTree(painter, at.tree, m_model);
    if (exposed.intersects(at.gutter.adjusted(0, -40, 0, 0)))
        paintGutter(painter, at.gutter, m_model);
    if (exposed.right() >= at.legend.left())
        paintLegend(painter, at.legend, scale.colors());
    if (exposed.intersects(at.status))
        paintStatus(painter, at.status, m_text);
    if (exposed.bottom() >= at.overview.top() - 4) {
        makeStrip();
        paintOverview(painter, at.overview, m_model, m_strip);
    }
    paintOverlays(painter, at);
}

void HeatCanvas::paintOverlays(QPainter& painter, const HeatLayout& at)
{
    paintColumnMark(painter, at.plot, m_model, m_marks.a, true);
    paintColumnMark(painter, at.plot, m_model, m_marks.b, false);
    paintCellCursor(painter, at.plot, m_model);
    if (m_hover && m_drag == Drag::None) {
        QColor line = color(Token::Text);
        line.setAlphaF(0.3F);
        painter.fillRect(QRect(m_mouse.x(), at.plot.y(), 1, at.plot.height()), line);
        painter.fillRect(QRect(at.plot.x(), m_mouse.y(), at.plot.width(), 1), line);
    }
    if (m_spark.row >= 0)
        paintRowSpark(painter, sparkBox(at.gutter, m_model, m_spark), m_model, m_spark);
    if (m_drag == Drag::Box) {
        QColor fill = color(Token::Text);
        fill.setAlphaF(0.15F);
        painter.fillRect(box(), fill);
        painter.setPen(QPen(color(Token::Text), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box().adjusted(0, 0, -1, -1));
    }
    if (!m_model.isEmpty())
        paintFocus(painter, at.plot.adjusted(-3, -3, 3, 3));
    else if (m_model.plan()) {
        painter.setPen(color(Token::Muted));
        painter.drawText(at.plot, Qt::AlignCenter, tr("No tensor matches the filter."));
    }
}

void HeatCanvas::makeStrip()
{
    if (!m_stripDirty || m_model.isEmpty())
        return;
    const unsigned levelY = m_tiles.levelsY() - 1;
    const unsigned levelX = m_tiles.levelsX() - 1;
    const CodeTile* tile = m_tiles.find(app::HeatPool::Max, levelY, levelX, 0, 0);
    m_tiles.load(0, 0);
    if (!tile || tile->levelX != levelX)
        return;
    m_stripDirty = false;
    const int cells = (m_tiles.columns() + (1 << levelX) - 1) >> levelX;
    const int lines = (m_model.plan()->rows() + (1 << levelY) - 1) >> levelY;
    if (m_strip.width() != cells)
        m_strip = QImage(cells, 1, QImage::Format_ARGB32_Premultiplied);
    const ColorTable& table = HeatScale::shared().table();
    auto* pixels = reinterpret_cast<QRgb*>(m_strip.scanLine(0));
    for (int x = 0; x < cells; ++x) {
        int highest = -1;
        for (int line = 0; line < lines; ++line) {
            if (!tile->knownLine(line) || tile->knownLine(line)[x])
                highest = std::max<int>(highest, tile->codeLine(line)[x]);
        }
        pixels[x] = highest < 0 ? 0 : table[static_cast<std::size_t>(highest)];
    }
}

bool HeatCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const QPoint at = static_cast<QHelpEvent*>(event)->pos();
        const HeatLayout parts = layout();
        const int row =
            parts.tree.contains(at) ? rowAt(m_model.tops(), at.y() - parts.tree.y() + m_model.scroll()) : -1;
        if (row < 0 || m_model.isEmpty()) {
            QToolTip::hideText();
        } else {
            const ViewRow& view = m_model.rows()[static_cast<std::size_t>(row)];
            const app::TensorRowView& tensor = m_model.plan()->tensor(view.first);
            const QString mean = m_model.plan()->knownColumns == 0
                ? tr("what changed is not known")
                : tr("%1 changed per step").arg(shareText(m_model.plan()->meanShareOf(view.first, view.count)));
            QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                               view.isGroup()
                                   ? tr("%1: %2, %3")
                                         .arg(m_model.labelOf(view),
                                              pluralText(static_cast<std::uint64_t>(view.count), tr("tensor")), mean)
                                   : tr("%1: %2, %3").arg(safeName(tensor.name), shapeText(tensor.shape), mean),
                               this);
        }
        return true;
    }
    return Canvas::event(event);
}

} // namespace deltascope::desktop
