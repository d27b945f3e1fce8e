#include "pages/tensors/values_table.h"

#include "look/format.h"
#include "look/look.h"

#include <QFontMetrics>
#include <QSize>

namespace deltascope::desktop {

namespace {

QString exactNumber(const std::optional<double>& value) { return value ? QString::number(*value, 'g', 17) : QString(); }

std::optional<double> percentile(const app::ValuesView& values, std::size_t at)
{
    return at < values.percentiles.size() ? std::optional(values.percentiles[at].second) : std::nullopt;
}

}

QString valueText(const std::optional<double>& value)
{
    return value ? QString::number(*value, 'g', 6) : unknownText();
}

void ValuesTable::addNumber(const QString& name, const std::function<std::optional<double>(const app::ValuesView&)>& of,
                            const QString& help)
{
    Row row { name, help, {}, {} };
    const Values states[] = { m_statistics->a, m_statistics->b };
    for (int i = 0; i < 2; ++i) {
        if (!states[i])
            continue;
        row.shown[i] = valueText(of(*states[i]));
        row.exact[i] = exactNumber(of(*states[i]));
    }
    m_rows.push_back(std::move(row));
}

void ValuesTable::addCount(const QString& name, const std::function<std::uint64_t(const app::ValuesView&)>& of)
{
    Row row { name, {}, {}, {} };
    const Values states[] = { m_statistics->a, m_statistics->b };
    for (int i = 0; i < 2; ++i) {
        if (!states[i])
            continue;
        row.shown[i] = exactText(of(*states[i]));
        row.exact[i] = QString::number(of(*states[i]));
    }
    m_rows.push_back(std::move(row));
}

void ValuesTable::addMoved(const app::ValuesMovedView& moved)
{
    const auto add = [this](const QString& name, const QString& help, const QString& shown, const QString& exact) {
        m_rows.push_back({ name, help, { {}, shown }, { {}, exact } });
    };
    add(tr("changed"), tr("Elements whose bits differ"), exactText(moved.changed), QString::number(moved.changed));
    add(tr("sign flips"), {}, exactText(moved.signFlips), QString::number(moved.signFlips));
    add(tr("max |Δ|"), {}, valueText(moved.maxAbs), exactNumber(moved.maxAbs));
    add(tr("relative L2"), tr("Norm of B − A over norm of A"), valueText(moved.relativeNorm),
        exactNumber(moved.relativeNorm));
}

void ValuesTable::setStatistics(const StatisticsPointer& statistics)
{
    beginResetModel();
    m_statistics = statistics;
    m_rows.clear();
    if (statistics) {
        using View = app::ValuesView;
        addNumber(tr("min"), [](const View& v) { return v.min; });
        const QString names[] = { tr("p0.1"), tr("p1"), tr("median"), tr("p99"), tr("p99.9") };
        const QString help = tr("The least value that so many percent do not exceed; exact");
        for (std::size_t i = 0; i < 5; ++i)
            addNumber(
                names[i], [i](const View& v) { return percentile(v, i); }, help);
        addNumber(tr("max"), [](const View& v) { return v.max; });
        addNumber(tr("mean"), [](const View& v) { return v.mean; });
        addNumber(
            tr("std"), [](const View& v) { return v.std; }, tr("Of all values, not of a sample"));
        addNumber(tr("L2 norm"), [](const View& v) { return v.norm; });
        addCount(tr("zeros"), [](const View& v) { return v.zeros; });
        addCount(tr("NaN"), [](const View& v) { return v.nan; });
        addCount(tr("infinite"), [](const View& v) { return v.positiveInfinite + v.negativeInfinite; });
        if (statistics->moved)
            addMoved(*statistics->moved);
    }
    endResetModel();
}

QString ValuesTable::asTsv() const
{
    if (!m_statistics)
        return {};
    QString text = headerData(Name, Qt::Horizontal).toString();
    for (const int column : { AtA, AtB })
        text += QLatin1Char('\t') + headerData(column, Qt::Horizontal).toString();
    for (const Row& row : m_rows)
        text += QStringLiteral("\n%1\t%2\t%3").arg(row.name, row.exact[0], row.exact[1]);
    return text;
}

int ValuesTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ValuesTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : Columns; }

QVariant ValuesTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const bool isName = index.column() == Name;
    switch (role) {
    case Qt::DisplayRole:
        return isName ? row.name : row.shown[index.column() - AtA];
    case Qt::ToolTipRole:
        return isName ? row.help : row.exact[index.column() - AtA];
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment((isName ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
    case Qt::FontRole:
        return typeFont(Type::Table);
    case Qt::SizeHintRole: { // closer than in other lists: it is read as a whole
        const QFontMetrics letters(typeFont(Type::Table));
        return QSize(letters.horizontalAdvance(index.data().toString()) + 20, letters.height() + 6);
    }
    default:
        return {};
    }
}

QVariant ValuesTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((section == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !m_statistics)
        return {};
    if (section == Name)
        return tr("statistic");
    if (section == AtB)
        return tr("B %1").arg(m_statistics->b.step);
    return m_statistics->a ? tr("A %1").arg(m_statistics->a->step) : QString();
}

} // namespace deltascope::desktop
