#include "heat/cell_painter.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int Margin = 64; ///< cells of the picture begin and end at multiples, so that small pans find it

/// Lines of the picture that a row takes: bands are painted tensor by tensor as far as pixels go.
int linesOf(const ViewRow& row, int height) { return std::min(row.lines(), std::max(1, height)); }

int heightOf(const HeatModel& model, int row)
{
    const auto at = static_cast<std::size_t>(row);
    return model.tops()[at + 1] - model.tops()[at];
}

}

void CellPainter::forgetColumns(int from, int to)
{
    const bool none = m_dirtyFrom >= m_dirtyTo;
    m_dirtyFrom = none ? from : std::min(m_dirtyFrom, from);
    m_dirtyTo = none ? to : std::max(m_dirtyTo, to);
}

void CellPainter::paint(QPainter& painter, const QRect& box, const HeatModel& model, TileCache& tiles,
                        app::HeatPool pool, const ColorTable& table)
{
    if (model.isEmpty())
        return;
    const Axis& axis = model.axis();
    const int right = static_cast<int>(std::ceil(std::min(axis.size, axis.toPixel(axis.count))));
    const int bottom = std::min(box.height(), model.tops().back() - model.scroll());
    painter.save();
    painter.setClipRect(QRect(box.x(), box.y(), right, bottom), Qt::IntersectClip);

    Key key;
    key.rows = model.rowsRevision();
    key.firstRow = std::max(0, model.firstSeenRow());
    key.endRow = model.endOfSeenRows();
    key.level = levelFor(axis.cell, tiles.levelsX());
    key.pool = pool;
    const double merged = 1U << key.level;
    const int cells = static_cast<int>(std::ceil(axis.count / merged));
    key.from = static_cast<int>(axis.first / merged) / Margin * Margin;
    const int end = static_cast<int>(std::ceil((axis.first + axis.seen()) / merged));
    key.to = std::min(cells, (end + Margin) / Margin * Margin);

    const HeatPicture::Source source { tiles, pool, table, model.plan()->elementsBefore };
    if (key != m_key) {
        m_key = key;
        tiles.begin();
        findLines(model);
        m_picture.compose(source, key.level, key.from, key.to, m_lines);
    } else if (m_dirtyFrom < m_dirtyTo) {
        const int last = (m_dirtyTo - 1) >> key.level;
        m_picture.recompose(source, m_dirtyFrom >> key.level, last + 1, m_lines);
    }
    m_dirtyFrom = m_dirtyTo = 0;
    const ViewRow& middle = model.rows()[static_cast<std::size_t>((key.firstRow + key.endRow) / 2)];
    tiles.load(middle.first, axis.first + axis.seen() / 2);

    paintUnknown(painter, QRect(box.x(), box.y(), right, bottom));
    stretch(painter, box, model);
    painter.restore();
}

void CellPainter::findLines(const HeatModel& model)
{
    m_lines.clear();
    for (int at = m_key.firstRow; at < m_key.endRow; ++at) {
        const ViewRow& row = model.rows()[static_cast<std::size_t>(at)];
        const int lines = linesOf(row, heightOf(model, at));
        for (int i = 0; i < lines; ++i) {
            const int begin = i * row.count / lines;
            m_lines.push_back({ row.first + begin, (i + 1) * row.count / lines - begin });
        }
    }
}

/// Neighboring rows whose lines have one height go together.
void CellPainter::stretch(QPainter& painter, const QRect& box, const HeatModel& model) const
{
    const QImage image = m_picture.image();
    const double merged = 1U << m_key.level;
    const Axis& axis = model.axis();
    const double x = box.x() + axis.toPixel(m_key.from * merged);
    const double width = (m_key.to - m_key.from) * merged * axis.cell;
    const auto topOf = [&](int row) { return box.y() + model.tops()[static_cast<std::size_t>(row)] - model.scroll(); };
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    int line = 0;
    for (int at = m_key.firstRow; at < m_key.endRow;) {
        const int height = heightOf(model, at);
        const int each = linesOf(model.rows()[static_cast<std::size_t>(at)], height);
        int lines = each;
        int end = at + 1;
        for (; end < m_key.endRow; ++end) {
            const int nextHeight = heightOf(model, end);
            const int next = linesOf(model.rows()[static_cast<std::size_t>(end)], nextHeight);
            if (nextHeight * each != height * next)
                break;
            lines += next;
        }
        painter.drawImage(QRectF(x, topOf(at), width, topOf(end) - topOf(at)), image,
                          QRectF(0, line, image.width(), lines));
        line += lines;
        at = end;
    }
}

} // namespace deltascope::desktop
