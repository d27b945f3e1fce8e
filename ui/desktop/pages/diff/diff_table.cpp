#include "pages/diff/diff_table.h"

#include "look/format.h"
#include "widgets/share_delegate.h"

namespace deltascope::desktop {

namespace {

/// One row as a filter asks about it.
struct FilteredRow {
    const DiffTable::Content& content;
    std::size_t row;

    std::optional<double> number(std::size_t field) const
    {
        return content.number ? content.number(row, static_cast<DiffTable::Field>(field)) : std::nullopt;
    }
    bool hasWord(std::size_t, const Query::WordTest& test) const
    {
        return content.dtype && test(safeName(content.dtype(row)).toLower());
    }
    bool contains(const QString& text) const { return safeName(content.name(row)).toLower().contains(text); }
};

}

std::vector<QueryField> DiffTable::fields()
{
    return { { QStringLiteral("dtype") },
             { QStringLiteral("elements"), true },
             { QStringLiteral("different"), true },
             { QStringLiteral("touched"), true } };
}

void DiffTable::setContent(Content content)
{
    beginResetModel();
    m_content = std::move(content);
    endResetModel();
}

int DiffTable::rowOf(const std::string& name) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (nameOf(row) == name)
            return row;
    }
    return -1;
}

int DiffTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_content.rows);
}

int DiffTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_content.columns.size());
}

QVariant DiffTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Column& column = m_content.columns[static_cast<std::size_t>(index.column())];
    const auto row = static_cast<std::size_t>(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return column.text(row);
    case Qt::ToolTipRole:
        return m_content.tip ? m_content.tip(row) : safeName(m_content.name(row));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::AlignVCenter | (column.number ? Qt::AlignRight : Qt::AlignLeft));
    case SortRole:
        return column.key ? QVariant(column.key(row)) : QVariant(column.text(row));
    case ShareDelegate::ShareRole:
        return column.share ? QVariant(column.key(row)) : QVariant();
    default:
        return {};
    }
}

QVariant DiffTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical)
        return {};
    const Column& column = m_content.columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.title;
    if (role == Qt::ToolTipRole && !column.tip.isEmpty())
        return column.tip;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter
                                   | (column.number && !column.share ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

DiffRows::DiffRows(DiffTable& table, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_table(table)
{
    setSortRole(DiffTable::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setSourceModel(&table);
}

void DiffRows::setQuery(const Query& query)
{
    m_query = query;
    invalidateFilter();
}

bool DiffRows::filterAcceptsRow(int row, const QModelIndex&) const
{
    return m_query.matches(FilteredRow { m_table.content(), static_cast<std::size_t>(row) });
}

} // namespace deltascope::desktop
