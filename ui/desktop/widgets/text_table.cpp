#include "widgets/text_table.h"

#include "look/look.h"
#include "look/tokens.h"
#include "widgets/share_delegate.h"
#include "widgets/table_header.h"

#include <QAbstractTableModel>
#include <QHeaderView>

#include <algorithm>

namespace deltascope::desktop {

class TextTable::Model final : public QAbstractTableModel {
public:
    Model(std::vector<TextColumn> columns, QObject* parent)
        : QAbstractTableModel(parent)
        , columns(std::move(columns))
    {
    }

    void setRows(std::vector<TextRow> now)
    {
        const bool same = std::equal(now.begin(), now.end(), rows.begin(), rows.end(),
                                     [](const TextRow& a, const TextRow& b) { return a.subject == b.subject; });
        if (same && !now.empty() && now.front().subject.isValid()) { // the selection stays
            rows = std::move(now);
            emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
            return;
        }
        beginResetModel();
        rows = std::move(now);
        endResetModel();
    }

    int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(rows.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(columns.size());
    }
    QVariant data(const QModelIndex& index, int role) const override
    {
        if (!index.isValid())
            return {};
        const TextRow& row = rows[static_cast<std::size_t>(index.row())];
        const TextColumn& column = columns[static_cast<std::size_t>(index.column())];
        switch (role) {
        case Qt::DisplayRole:
            return row.cells.value(index.column());
        case Qt::ToolTipRole:
            return row.tip.isEmpty() ? row.cells.value(index.column()) : row.tip;
        case Qt::ForegroundRole:
            return row.bad ? QVariant(color(Token::Error)) : QVariant();
        case Qt::FontRole:
            return typeFont(Type::Table);
        case Qt::TextAlignmentRole:
            return alignmentOf(column);
        case ShareDelegate::ShareRole:
            return column.share && row.bar ? QVariant(*row.bar) : QVariant();
        default:
            return {};
        }
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override
    {
        if (orientation == Qt::Vertical || section < 0 || section >= columnCount())
            return {};
        const TextColumn& column = columns[static_cast<std::size_t>(section)];
        switch (role) {
        case Qt::DisplayRole:
            return column.title;
        case Qt::TextAlignmentRole:
            return alignmentOf(column);
        case Qt::FontRole:
            return typeFont(Type::Label);
        default:
            return {};
        }
    }

    std::vector<TextColumn> columns;
    std::vector<TextRow> rows;

private:
    static QVariant alignmentOf(const TextColumn& column)
    {
        return QVariant::fromValue((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
};

TextTable::TextTable(const QString& name, std::vector<TextColumn> columns, QWidget* parent)
    : QTableView(parent)
    , m_model(new Model(std::move(columns), this))
{
    TableHeader::give(*this);
    setModel(m_model);
    setItemDelegate(new ShareDelegate(this));
    setAccessibleName(name);
    setShowGrid(false);
    setWordWrap(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(metrics().row);
    fitColumns();
}

void TextTable::setRows(std::vector<TextRow> rows)
{
    m_model->setRows(std::move(rows));
    fitColumns();
    fitHeight();
}

const std::vector<TextRow>& TextTable::rows() const { return m_model->rows; }

const TextRow* TextTable::currentRow() const
{
    const int row = currentIndex().row();
    return row >= 0 && row < m_model->rowCount() ? &m_model->rows[static_cast<std::size_t>(row)] : nullptr;
}

void TextTable::limitHeight(int rows)
{
    m_mostRows = rows;
    fitHeight();
}

QString TextTable::tabbedText() const
{
    QString text;
    for (int column = 0; column < m_model->columnCount(); ++column)
        text +=
            (column > 0 ? QStringLiteral("\t") : QString()) + m_model->columns[static_cast<std::size_t>(column)].title;
    text += QLatin1Char('\n');
    for (const TextRow& row : m_model->rows)
        text += row.cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    return text;
}

/// Every column as wide as its texts, the wide one takes what is left.
void TextTable::fitColumns()
{
    constexpr int Looked = 100; ///< rows
    constexpr int MostWidth = 320;
    constexpr int Padding = 20;
    const QFontMetrics letters(typeFont(Type::Table));
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const TextColumn& shown = m_model->columns[static_cast<std::size_t>(column)];
        if (shown.wide) {
            horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
            continue;
        }
        int width = letters.horizontalAdvance(shown.title) + Padding;
        if (shown.share)
            width = sizeHintForColumn(column);
        for (int row = 0; !shown.share && row < std::min(Looked, m_model->rowCount()); ++row)
            width = std::max(width, letters.horizontalAdvance(m_model->index(row, column).data().toString()) + Padding);
        horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
        horizontalHeader()->resizeSection(column, std::min(width, MostWidth));
    }
}

void TextTable::fitHeight()
{
    if (m_mostRows == 0)
        return;
    const int shown = std::clamp(m_model->rowCount(), 1, m_mostRows);
    setFixedHeight(horizontalHeader()->sizeHint().height() + shown * metrics().row + 2 * frameWidth());
}

} // namespace deltascope::desktop
