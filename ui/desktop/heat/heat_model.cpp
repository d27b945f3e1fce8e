#include "heat/heat_model.h"

#include "heat/color_map.h"

#include <QRectF>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr double LeastScale = 0.25;
constexpr double MostScale = 6;
constexpr double LeastFitted = 0.5;
constexpr double MostFitted = 2.4;

std::size_t index(int at) { return static_cast<std::size_t>(at); }

void collectGroups(const std::vector<RowNode>& nodes, QSet<QString>& keys)
{
    for (const RowNode& node : nodes) {
        if (!node.children.empty())
            keys.insert(node.key);
    }
}

}

void HeatModel::setPlan(HeatPlanPointer plan)
{
    const std::optional<int> tensor = tensorAtCursor();
    const int column = m_cursor ? m_cursor->column : 0;
    const bool sameRows =
        m_plan && plan && m_plan->tree == plan->tree && m_plan->options == plan->options && m_plan->list == plan->list;
    const bool sameColumns = m_plan && plan && m_plan->epoch == plan->epoch && m_plan->tree == plan->tree;
    m_plan = std::move(plan);
    if (!m_plan) {
        m_cursor.reset();
        m_rows.clear();
        m_tops = { 0 };
        ++m_rowsRevision;
        return;
    }
    m_zoom.axis = sameColumns ? m_zoom.axis.withCount(m_plan->columns)
                              : m_zoom.axis.withCount(0).withCount(m_plan->columns).fitted();
    if (sameRows)
        return;
    m_cursor.reset();
    layout();
    if (m_height > 0 && !m_fitted)
        fitRows();
    clampScroll();
    if (tensor && *tensor < m_plan->rows() && column < m_plan->columns)
        putCursorOn(*tensor, column);
}

void HeatModel::layout()
{
    m_rows = m_plan->list ? listRows(*m_plan->list) : treeRows(*m_plan->tree, m_open);
    m_tops = rowTops(m_rows, m_zoom.scale);
    ++m_rowsRevision;
}

QString HeatModel::labelOf(const ViewRow& row) const
{
    return row.node ? row.node->label : tensorLabel(m_plan->tensor(row.first).name);
}

void HeatModel::setOpen(int row, bool open)
{
    const ViewRow& view = m_rows[index(row)];
    if (!view.isGroup() || open == isOpen(row))
        return;
    const std::optional<int> tensor = tensorAtCursor();
    const int first = view.first;
    const int column = m_cursor ? m_cursor->column : 0;
    if (open)
        m_open.insert(view.node->key);
    else
        m_open.remove(view.node->key);
    m_cursor.reset();
    layout();
    clampScroll();
    if (tensor)
        putCursorOn(std::max(*tensor, first), column);
}

void HeatModel::openAll(bool open)
{
    if (!m_plan || m_plan->list)
        return;
    const std::optional<int> tensor = tensorAtCursor();
    const int column = m_cursor ? m_cursor->column : 0;
    m_open.clear();
    if (open)
        collectGroups(m_plan->tree->nodes, m_open);
    m_cursor.reset();
    layout();
    clampScroll();
    if (tensor)
        putCursorOn(*tensor, column);
}

void HeatModel::setZoom(const HeatZoom& zoom)
{
    const Axis now = m_zoom.axis;
    m_zoom = zoom;
    m_zoom.axis.size = now.size;
    m_zoom.axis.count = now.count;
    m_zoom.axis = m_zoom.axis.clamped();
    m_tops = rowTops(m_rows, m_zoom.scale);
    ++m_rowsRevision;
    clampScroll();
}

void HeatModel::resize(int width, int height)
{
    if (width == m_zoom.axis.size && height == m_height)
        return;
    m_height = height;
    m_zoom.axis = m_zoom.axis.withSize(width);
    if (!m_fitted && m_plan && height > 0)
        fitRows();
    clampScroll();
}

void HeatModel::fitRows()
{
    if (m_rows.empty())
        return;
    m_fitted = true;
    const int natural = rowTops(m_rows, 1).back();
    const double wanted = std::floor(m_height * 20.0 / natural) / 20;
    m_zoom.scale = std::clamp(wanted, LeastFitted, MostFitted);
    m_tops = rowTops(m_rows, m_zoom.scale);
    m_zoom.scroll = 0;
    ++m_rowsRevision;
}

void HeatModel::fitSteps() { m_zoom.axis = m_zoom.axis.fitted(); }

void HeatModel::zoomSteps(double pixel, double factor) { m_zoom.axis = m_zoom.axis.zoomed(pixel, factor); }

void HeatModel::zoomRows(double pixel, double factor)
{
    const double y = pixel + m_zoom.scroll;
    const int at = rowAt(m_tops, y);
    const double part = at < 0 ? 0 : (y - top(at)) / (top(at + 1) - top(at));
    m_zoom.scale = std::clamp(m_zoom.scale * factor, LeastScale, MostScale);
    m_tops = rowTops(m_rows, m_zoom.scale);
    ++m_rowsRevision;
    if (at >= 0)
        m_zoom.scroll = static_cast<int>(std::lround(top(at) + part * (top(at + 1) - top(at)) - pixel));
    clampScroll();
}

void HeatModel::panSteps(double pixels) { m_zoom.axis = m_zoom.axis.panned(pixels); }

void HeatModel::scrollBy(int pixels)
{
    m_zoom.scroll += pixels;
    clampScroll();
}

void HeatModel::showSteps(const StepRange& range)
{
    if (!m_plan)
        return;
    const auto first = m_plan->heat->columns.begin() + m_plan->firstColumn;
    const auto last = first + m_plan->columns;
    const auto from = std::lower_bound(first, last, range.first,
                                       [](const auto& column, std::int64_t step) { return column.step < step; });
    const auto to = std::upper_bound(first, last, range.second,
                                     [](std::int64_t step, const auto& column) { return step < column.step; });
    if (from < to)
        showColumns(static_cast<int>(from - first), static_cast<int>(to - first));
}

void HeatModel::showNewest()
{
    Axis axis = m_zoom.axis;
    axis.first = axis.count;
    m_zoom.axis = axis.clamped();
}

void HeatModel::showColumns(int from, int to) { m_zoom.axis = m_zoom.axis.showing(from, to); }

void HeatModel::showRows(int from, int to)
{
    const int natural = std::max(1, top(to) - top(from));
    zoomRows(0, m_height / static_cast<double>(natural));
    m_zoom.scroll = top(from);
    clampScroll();
}

void HeatModel::clampScroll() { m_zoom.scroll = std::clamp(m_zoom.scroll, 0, std::max(0, m_tops.back() - m_height)); }

// --- cursor ----------------------------------------------------------------------------------------------------------

void HeatModel::place(const Spot& spot)
{
    m_cursor = spot;
    m_zoom.axis = m_zoom.axis.revealing(spot.column);
    if (top(spot.row) < m_zoom.scroll)
        m_zoom.scroll = top(spot.row);
    else if (top(spot.row + 1) > m_zoom.scroll + m_height)
        m_zoom.scroll = top(spot.row + 1) - m_height;
    clampScroll();
}

bool HeatModel::placeTensor(const std::string& name, int column)
{
    if (isEmpty())
        return false;
    const auto& tensors = m_plan->heat->rows;
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& row) { return row.name == name; });
    if (found == tensors.end())
        return false;
    const auto matrixRow = static_cast<int>(found - tensors.begin());
    const int row = rowOfTensor(matrixRow);
    if (row < 0)
        return false;
    place({ row, matrixRow - m_rows[index(row)].first, column });
    return true;
}

int HeatModel::rowOfTensor(int matrixRow) const
{
    const auto found = std::find_if(m_rows.begin(), m_rows.end(), [&](const ViewRow& row) {
        return row.kind != ViewRow::Kind::Head && row.first <= matrixRow && matrixRow < row.first + row.count;
    });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

void HeatModel::putCursorOn(int matrixRow, int column)
{
    if (const int row = rowOfTensor(matrixRow); row >= 0)
        m_cursor = Spot { row, matrixRow - m_rows[index(row)].first, column };
}

std::optional<int> HeatModel::tensorAtCursor() const
{
    if (!m_cursor || m_cursor->row >= static_cast<int>(m_rows.size()))
        return std::nullopt;
    return m_rows[index(m_cursor->row)].first + m_cursor->offset;
}

std::optional<Spot> HeatModel::start() const
{
    if (isEmpty())
        return std::nullopt;
    return m_cursor ? m_cursor : Spot { std::max(0, rowAt(m_tops, m_zoom.scroll)), 0, m_plan->columns - 1 };
}

std::optional<Spot> HeatModel::neighbor(const Spot& spot, int by) const
{
    const int offset = spot.offset + by;
    if (offset >= 0 && offset < m_rows[index(spot.row)].lines())
        return Spot { spot.row, offset, spot.column };
    const int row = spot.row + by;
    if (row < 0 || row >= static_cast<int>(m_rows.size()))
        return std::nullopt;
    return Spot { row, by > 0 ? 0 : m_rows[index(row)].lines() - 1, spot.column };
}

void HeatModel::moveColumn(int by)
{
    if (std::optional<Spot> spot = start()) {
        spot->column = std::clamp(spot->column + by, 0, m_plan->columns - 1);
        place(*spot);
    }
}

void HeatModel::moveRow(int by)
{
    if (const std::optional<Spot> spot = start())
        place(neighbor(*spot, by).value_or(*spot));
}

void HeatModel::moveToOther(int dx, int dy, app::HeatPool pool)
{
    std::optional<Spot> spot = start();
    if (!spot)
        return;
    const auto code = codeAt(*spot, pool);
    for (;;) {
        std::optional<Spot> next = dy == 0 ? Spot { spot->row, spot->offset, spot->column + dx } : neighbor(*spot, dy);
        if (!next || next->column < 0 || next->column >= m_plan->columns)
            break;
        spot = next;
        if (codeAt(*spot, pool) != code)
            break;
    }
    place(*spot);
}

int HeatModel::otherChange(int by) const
{
    const std::optional<int> tensor = tensorAtCursor();
    if (!tensor)
        return -1;
    for (int at = m_cursor->column + by; at >= 0 && at < m_plan->columns; at += by) {
        if (m_plan->code(*tensor, at).value_or(0) > 0)
            return at;
    }
    return -1;
}

// --- places ----------------------------------------------------------------------------------------------------------

std::optional<Spot> HeatModel::spotAt(double x, double y) const
{
    if (isEmpty() || y < 0 || y >= m_height)
        return std::nullopt;
    const int column = m_zoom.axis.cellAt(x);
    const int at = rowAt(m_tops, y + m_zoom.scroll);
    if (column < 0 || at < 0)
        return std::nullopt;
    const double part = (y + m_zoom.scroll - top(at)) / (top(at + 1) - top(at));
    const int lines = m_rows[index(at)].lines();
    return Spot { at, std::min(lines - 1, static_cast<int>(part * lines)), column };
}

int HeatModel::firstSeenRow() const { return rowAt(m_tops, m_zoom.scroll); }

int HeatModel::endOfSeenRows() const
{
    const auto end = std::lower_bound(m_tops.begin(), m_tops.end() - 1, m_zoom.scroll + m_height);
    return static_cast<int>(end - m_tops.begin());
}

int HeatModel::tensorAt(const Spot& spot) const
{
    const ViewRow& row = m_rows[index(spot.row)];
    return row.kind == ViewRow::Kind::Head ? -1 : row.first + spot.offset;
}

std::optional<std::uint8_t> HeatModel::codeAt(const Spot& spot, app::HeatPool pool) const
{
    const ViewRow& row = m_rows[index(spot.row)];
    if (row.kind != ViewRow::Kind::Head)
        return m_plan->code(row.first + spot.offset, spot.column);
    if (!m_plan->column(spot.column).codes)
        return std::nullopt;
    std::uint8_t highest = 0;
    double sum = 0;
    double weight = 0;
    for (int at = row.first; at < row.first + row.count; ++at) {
        const std::uint8_t code = *m_plan->code(at, spot.column);
        const auto elements = static_cast<double>(m_plan->tensor(at).elements);
        highest = std::max(highest, code);
        sum += app::heatShare(code) * elements;
        weight += elements;
    }
    if (pool == app::HeatPool::Max || weight == 0)
        return highest;
    return codeOfShare(sum / weight);
}

QRectF HeatModel::rectOf(const Spot& spot) const
{
    const double height = top(spot.row + 1) - top(spot.row);
    const double part = height / m_rows[index(spot.row)].lines();
    return { m_zoom.axis.toPixel(spot.column), top(spot.row) - m_zoom.scroll + spot.offset * part, m_zoom.axis.cell,
             part };
}

} // namespace deltascope::desktop
