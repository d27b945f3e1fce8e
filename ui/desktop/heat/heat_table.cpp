#include "heat/heat_table.h"

#include "heat/color_map.h"
#include "look/format.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

HeatTable::HeatTable(const HeatModel& model, QObject* parent)
    : QAbstractTableModel(parent)
    , m_model(model)
{
}

void HeatTable::sync()
{
    std::vector<Line> lines;
    int from = 0;
    int to = 0;
    if (!m_model.isEmpty()) {
        for (int row = std::max(0, m_model.firstSeenRow()); row < m_model.endOfSeenRows(); ++row) {
            for (int offset = 0; offset < m_model.rows()[static_cast<std::size_t>(row)].lines(); ++offset)
                lines.push_back({ row, offset });
        }
        const Axis& axis = m_model.axis();
        from = static_cast<int>(axis.first);
        to = std::min(axis.count, static_cast<int>(std::ceil(axis.first + axis.seen())));
    }
    beginResetModel();
    m_plan = m_model.plan();
    m_rows = m_model.rowsRevision();
    m_lines = std::move(lines);
    m_from = from;
    m_to = to;
    endResetModel();
}

QModelIndex HeatTable::indexOf(const Spot& spot) const
{
    const auto line = std::find_if(m_lines.begin(), m_lines.end(), [&](const Line& candidate) {
        return candidate.row == spot.row && candidate.offset == spot.offset;
    });
    if (line == m_lines.end() || spot.column < m_from || spot.column >= m_to)
        return {};
    return index(static_cast<int>(line - m_lines.begin()), spot.column - m_from);
}

std::optional<Spot> HeatTable::spotOf(const QModelIndex& index) const
{
    if (!index.isValid() || m_rows != m_model.rowsRevision())
        return std::nullopt;
    const Line& line = m_lines[static_cast<std::size_t>(index.row())];
    return Spot { line.row, line.offset, m_from + index.column() };
}

int HeatTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int HeatTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_to - m_from; }

QVariant HeatTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    const std::optional<Spot> spot = spotOf(index);
    if (role != Qt::DisplayRole || !spot || m_plan != m_model.plan())
        return {};
    const auto code = m_model.codeAt(*spot, app::HeatPool::Max);
    return code ? shareText(app::heatShare(*code)) : unknownText();
}

QVariant HeatTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_plan || m_plan != m_model.plan() || m_rows != m_model.rowsRevision())
        return {};
    if (orientation == Qt::Horizontal)
        return tr("step %1").arg(m_plan->column(m_from + section).step);
    const Line& line = m_lines[static_cast<std::size_t>(section)];
    const int tensor = m_model.tensorAt({ line.row, line.offset, 0 });
    return tensor < 0 ? m_model.labelOf(m_model.rows()[static_cast<std::size_t>(line.row)])
                      : safeName(m_plan->tensor(tensor).name);
}

} // namespace deltascope::desktop
