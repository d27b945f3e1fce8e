#include "pages/heatmap/block_canvas.h"

#include "heat/axis.h"
#include "heat/heat_frame.h"
#include "heat/heat_scale.h"
#include "look/format.h"
#include "look/look.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

/// Neighbors summed up so that at most `limit` values are left, relative to the highest.
std::vector<double> bars(const std::vector<std::uint32_t>& counts, int limit)
{
    const std::size_t most = std::min(counts.size(), static_cast<std::size_t>(std::max(1, limit)));
    std::vector<double> sums(most, 0);
    for (std::size_t i = 0; i < counts.size(); ++i)
        sums[i * most / counts.size()] += counts[i];
    const double highest = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    if (highest > 0) {
        for (double& sum : sums)
            sum /= highest;
    }
    return sums;
}

}

std::uint64_t blockElements(const app::BlocksView& blocks, int row, int column)
{
    const auto left = [](std::uint64_t size, std::uint64_t per, int at) {
        const std::uint64_t before = per * static_cast<std::uint64_t>(at);
        return before >= size ? std::uint64_t { 0 } : std::min(per, size - before);
    };
    return left(blocks.rows, blocks.rowsPerBlock, row) * left(blocks.cols, blocks.colsPerBlock, column);
}

// --- table -----------------------------------------------------------------------------------------------------------

void BlockTable::setBlocks(const BlocksPointer& blocks)
{
    beginResetModel();
    m_blocks = blocks;
    endResetModel();
}

int BlockTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_blocks ? 0 : static_cast<int>(m_blocks->blockRows);
}

int BlockTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_blocks ? 0 : static_cast<int>(m_blocks->blockCols);
}

QVariant BlockTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !m_blocks || !index.isValid())
        return {};
    return exactText(m_blocks->blocks[static_cast<std::size_t>(index.row()) * m_blocks->blockCols
                                      + static_cast<std::size_t>(index.column())]);
}

QVariant BlockTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_blocks)
        return {};
    const auto at = static_cast<std::uint64_t>(section);
    return orientation == Qt::Horizontal ? tr("columns from %1").arg(exactText(at * m_blocks->colsPerBlock))
                                         : tr("rows from %1").arg(exactText(at * m_blocks->rowsPerBlock));
}

// --- canvas ----------------------------------------------------------------------------------------------------------

BlockCanvas::BlockCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("Blocks"));
    connect(&HeatScale::shared(), &HeatScale::changed, this, [this] {
        m_imageDirty = true;
        update();
    });
}

void BlockCanvas::setBlocks(const BlocksPointer& blocks)
{
    const bool sameShape = m_blocks && blocks && m_blocks->tensor == blocks->tensor
        && m_blocks->blockRows == blocks->blockRows && m_blocks->blockCols == blocks->blockCols;
    m_blocks = blocks;
    m_table.setBlocks(blocks);
    m_imageDirty = true;
    if (!sameShape)
        m_row = m_column = 0;
    if (m_blocks)
        setAccessibleName(tr("Blocks of %1, %2 by %3")
                              .arg(safeName(m_blocks->tensor))
                              .arg(m_blocks->blockRows)
                              .arg(m_blocks->blockCols));
    update();
    emit cellMoved();
}

BlockCanvas::Parts BlockCanvas::parts() const
{
    const int text = fontMetrics().height();
    const int left = 12 + text * 4;
    const int right = 12 + 72 + 20 + 12 + text * 4;
    Parts at;
    at.grid = { left, text + 8, std::max(1, width() - left - right), std::max(1, height() - text - 8 - 48 - 16) };
    at.rows = { at.grid.right() + 9, at.grid.y(), 72, at.grid.height() };
    at.columns = { at.grid.x(), at.grid.bottom() + 9, at.grid.width(), 48 };
    at.legend = { at.rows.right() + 21, at.grid.y(), 12, std::clamp(at.grid.height() - 2 * text - 20, 20, 280) };
    return at;
}

void BlockCanvas::makeImage()
{
    if (!m_imageDirty || !m_blocks)
        return;
    m_imageDirty = false;
    const auto rows = static_cast<int>(m_blocks->blockRows);
    const auto columns = static_cast<int>(m_blocks->blockCols);
    m_image = QImage(columns, rows, QImage::Format_RGB32);
    const ColorTable& table = HeatScale::shared().table();
    for (int row = 0; row < rows; ++row) {
        auto* pixels = reinterpret_cast<QRgb*>(m_image.scanLine(row));
        const std::uint32_t* counts = m_blocks->blocks.data() + static_cast<std::ptrdiff_t>(row) * columns;
        for (int column = 0; column < columns; ++column)
            pixels[column] = table[app::heatCode(counts[column], blockElements(*m_blocks, row, column))];
    }
    const Parts at = parts();
    m_rowBars = bars(m_blocks->rowCounts, at.rows.height());
    m_columnBars = bars(m_blocks->colCounts, at.columns.width());
}

void BlockCanvas::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    m_imageDirty = true;
}

void BlockCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    if (!m_blocks || m_blocks->blockRows == 0 || m_blocks->blockCols == 0)
        return;
    makeImage();
    const Parts at = parts();
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.drawImage(QRectF(at.grid), m_image, QRectF(m_image.rect()));
    paintBars(painter, at.rows, m_rowBars, true);
    paintBars(painter, at.columns, m_columnBars, false);
    paintAxes(painter, at);
    paintLegend(painter, at.legend, HeatScale::shared().colors());
    const double wide = at.grid.width() / static_cast<double>(m_blocks->blockCols);
    const double tall = at.grid.height() / static_cast<double>(m_blocks->blockRows);
    QRectF cell(at.grid.x() + m_column * wide, at.grid.y() + m_row * tall, wide, tall);
    const QPointF middle = cell.center();
    cell.setSize({ std::max(6.0, wide), std::max(6.0, tall) });
    cell.moveCenter(middle);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(Token::Surface), 4));
    painter.drawRect(cell);
    painter.setPen(QPen(color(Token::Text), 2));
    painter.drawRect(cell);
    paintFocus(painter, at.grid.adjusted(-3, -3, 3, 3));
}

void BlockCanvas::paintBars(QPainter& painter, const QRect& box, const std::vector<double>& bars, bool upright) const
{
    const QColor fill = color(Token::OtherSeries);
    const double each =
        (upright ? box.height() : box.width()) / static_cast<double>(std::max<std::size_t>(1, bars.size()));
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double from = static_cast<double>(i) * each;
        if (upright)
            painter.fillRect(QRectF(box.x(), box.y() + from, bars[i] * box.width(), std::max(1.0, each)), fill);
        else
            painter.fillRect(QRectF(box.x() + from, box.y(), std::max(1.0, each), bars[i] * box.height()), fill);
    }
}

void BlockCanvas::paintAxes(QPainter& painter, const Parts& at) const
{
    painter.setFont(typeFont(Type::Label));
    painter.setPen(color(Token::Muted));
    const int text = painter.fontMetrics().height();
    const QRect above(at.grid.x(), at.grid.y() - text - 4, at.grid.width(), text + 2);
    painter.drawText(above, Qt::AlignLeft | Qt::AlignVCenter, tr("column 0"));
    painter.drawText(above, Qt::AlignRight | Qt::AlignVCenter, exactText(m_blocks->cols));
    painter.drawText(QRect(at.rows.x(), above.y(), 120, above.height()), Qt::AlignLeft | Qt::AlignVCenter, tr("rows"));
    painter.drawText(QRect(0, at.columns.y() - 2, at.grid.x() - 8, text + 4), Qt::AlignRight | Qt::AlignVCenter,
                     tr("columns"));
    const double perRow = at.grid.height() / static_cast<double>(m_blocks->rows);
    const long long every = tickStep(perRow, 60);
    for (long long row = 0; row < static_cast<long long>(m_blocks->rows); row += every) {
        const int y = at.grid.y() + static_cast<int>(static_cast<double>(row) * perRow);
        if (y + text > at.grid.bottom() + 4)
            break;
        painter.drawText(QRect(0, y - 1, at.grid.x() - 8, text), Qt::AlignRight | Qt::AlignVCenter,
                         row == 0 ? tr("row 0") : exactText(static_cast<std::uint64_t>(row)));
    }
}

QString BlockCanvas::cellText() const
{
    if (!m_blocks || m_blocks->blocks.empty())
        return {};
    const std::uint32_t count =
        m_blocks->blocks[static_cast<std::size_t>(m_row) * m_blocks->blockCols + static_cast<std::size_t>(m_column)];
    const std::uint64_t elements = blockElements(*m_blocks, m_row, m_column);
    return tr("rows from %1, columns from %2: %3 of %4 changed, %5")
        .arg(exactText(static_cast<std::uint64_t>(m_row) * m_blocks->rowsPerBlock),
             exactText(static_cast<std::uint64_t>(m_column) * m_blocks->colsPerBlock), exactText(count),
             exactText(elements),
             elements == 0 ? unknownText() : percentText(static_cast<double>(count) / static_cast<double>(elements)));
}

QModelIndex BlockCanvas::currentCell() const { return m_table.index(m_row, m_column); }

void BlockCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        moveTo(cell.row(), cell.column());
}

void BlockCanvas::moveTo(int row, int column)
{
    if (!m_blocks || m_blocks->blocks.empty())
        return;
    row = std::clamp(row, 0, static_cast<int>(m_blocks->blockRows) - 1);
    column = std::clamp(column, 0, static_cast<int>(m_blocks->blockCols) - 1);
    if (row == m_row && column == m_column)
        return;
    m_row = row;
    m_column = column;
    announceCell(cellText());
    update(parts().grid.adjusted(-6, -6, 6, 6));
    emit cellMoved();
}

std::optional<QPoint> BlockCanvas::blockAt(const QPoint& at) const
{
    const QRect grid = parts().grid;
    if (!m_blocks || !grid.contains(at))
        return std::nullopt;
    return QPoint(static_cast<int>(static_cast<std::int64_t>(at.x() - grid.x()) * m_blocks->blockCols / grid.width()),
                  static_cast<int>(static_cast<std::int64_t>(at.y() - grid.y()) * m_blocks->blockRows / grid.height()));
}

void BlockCanvas::openCursor()
{
    if (m_blocks && !m_blocks->blocks.empty())
        emit opened(static_cast<quint64>(m_row) * m_blocks->rowsPerBlock,
                    static_cast<quint64>(m_column) * m_blocks->colsPerBlock);
}

void BlockCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const std::optional<QPoint> block = blockAt(event->pos());
    setCursor(block ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (block)
        moveTo(block->y(), block->x());
}

void BlockCanvas::mousePressEvent(QMouseEvent* event)
{
    const std::optional<QPoint> block = blockAt(event->pos());
    if (!block || event->button() != Qt::LeftButton)
        return;
    moveTo(block->y(), block->x());
    openCursor();
}

bool BlockCanvas::wantsKey(const QKeyEvent& event) const
{
    if (event.modifiers() & ~Qt::KeypadModifier)
        return false;
    switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Backspace:
    case Qt::Key_Comma:
    case Qt::Key_Period:
        return true;
    default:
        return false;
    }
}

void BlockCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!wantsKey(*event))
        return Canvas::keyPressEvent(event);
    switch (event->key()) {
    case Qt::Key_Left:
        return moveTo(m_row, m_column - 1);
    case Qt::Key_Right:
        return moveTo(m_row, m_column + 1);
    case Qt::Key_Up:
        return moveTo(m_row - 1, m_column);
    case Qt::Key_Down:
        return moveTo(m_row + 1, m_column);
    case Qt::Key_Backspace:
        emit upWanted();
        return;
    case Qt::Key_Comma:
        emit stepped(-1);
        return;
    case Qt::Key_Period:
        emit stepped(1);
        return;
    default:
        openCursor();
    }
}

} // namespace deltascope::desktop
