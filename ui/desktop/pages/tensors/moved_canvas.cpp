#include "pages/tensors/moved_canvas.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr std::uint64_t Farthest = 16; ///< with a row of its own
constexpr double LeastShare = 1e-5; ///< bars begin there

/// Of the longest bar.
double lengthOf(double share)
{
    return share <= 0 ? 0 : std::clamp(1 - std::log10(share) / std::log10(LeastShare), 0.02, 1.0);
}

}

// --- table -----------------------------------------------------------------------------------------------------------

void MovedTable::setStatistics(const StatisticsPointer& statistics)
{
    beginResetModel();
    m_rows.clear();
    if (statistics && statistics->moved && statistics->elements > 0) {
        const app::ValuesMovedView& moved = *statistics->moved;
        m_rows.push_back({ QStringLiteral("0"), statistics->elements - moved.changed, 0 });
        std::uint64_t from = 1;
        for (std::uint64_t upTo = 1; upTo <= Farthest; from = upTo + 1, upTo *= 2)
            m_rows.push_back(
                { from == upTo ? QString::number(upTo) : QStringLiteral("%1–%2").arg(from).arg(upTo), 0, 0 });
        m_rows.push_back({ QStringLiteral("> %1").arg(Farthest), 0, 0 });
        for (std::size_t i = 0; i < moved.ulp.size(); ++i)
            m_rows[std::min(i + 1, m_rows.size() - 1)].count += moved.ulp[i].second;
        for (Row& row : m_rows)
            row.share = static_cast<double>(row.count) / static_cast<double>(statistics->elements);
    }
    endResetModel();
}

int MovedTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int MovedTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 2; }

QVariant MovedTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !index.isValid())
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    return index.column() == 0 ? exactText(row.count) : percentText(row.share);
}

QVariant MovedTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Vertical)
        return m_rows[static_cast<std::size_t>(section)].distance;
    return section == 0 ? tr("elements") : tr("share");
}

// --- canvas ----------------------------------------------------------------------------------------------------------

MovedCanvas::MovedCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("How far elements moved"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MovedCanvas::setStatistics(const StatisticsPointer& statistics)
{
    m_table.setStatistics(statistics);
    QStringList said;
    for (const MovedTable::Row& row : m_table.rows())
        said << tr("%1: %2").arg(row.distance, percentText(row.share));
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int MovedCanvas::rowHeight() const { return QFontMetrics(typeFont(Type::Label)).height() + 6; }

QSize MovedCanvas::sizeHint() const { return { 280, std::max(1, m_table.rowCount()) * rowHeight() + 2 }; }

void MovedCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    painter.setFont(typeFont(Type::Label));
    const QFontMetrics letters = painter.fontMetrics();
    const int labels = letters.horizontalAdvance(QStringLiteral("9–16 "));
    const int numbers = letters.horizontalAdvance(QStringLiteral(" 0.0044 %"));
    const int room = std::max(10, width() - labels - numbers - 8);
    int y = 1;
    for (const MovedTable::Row& row : m_table.rows()) {
        painter.setPen(color(Token::Muted));
        painter.drawText(QRect(0, y, labels, rowHeight()), Qt::AlignRight | Qt::AlignVCenter, row.distance);
        const double length = lengthOf(row.share) * room;
        const bool unmoved = &row == &m_table.rows().front();
        painter.fillRect(QRectF(labels + 8, y + 3, length, rowHeight() - 6),
                         color(unmoved ? Token::OtherSeries : Token::Accent));
        painter.setPen(color(row.count > 0 ? Token::Text : Token::Muted));
        painter.drawText(QRectF(labels + 8 + length + 6, y, numbers, rowHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                         percentText(row.share));
        y += rowHeight();
    }
    paintFocus(painter, rect());
}

} // namespace deltascope::desktop
