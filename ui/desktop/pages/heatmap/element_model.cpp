#include "pages/heatmap/element_model.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QColor>
#include <QFont>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <limits>

namespace deltascope::desktop {

namespace {

QString valueText(const std::optional<double>& value)
{
    return value ? QString::number(*value, 'g', 6) : unknownText();
}

bool isFloat(const std::string& dtype)
{
    const QString name = QString::fromStdString(dtype).toLower();
    return name.startsWith(QLatin1String("bf16")) || name.startsWith(QLatin1Char('f'));
}

/// Place of a float among all floats of its width, so that neighbors differ by one.
std::optional<std::int64_t> placeOf(const std::string& hex)
{
    bool read = false;
    const quint64 bits = QString::fromStdString(hex).toULongLong(&read, 16);
    const auto width = static_cast<unsigned>(hex.size()) * 4;
    if (!read || width == 0 || width > 64)
        return std::nullopt;
    const quint64 sign = quint64 { 1 } << (width - 1);
    const auto size = static_cast<std::int64_t>(bits & (sign - 1));
    return bits & sign ? -size : size;
}

}

void ElementModel::setElements(const ElementsPointer& elements, std::uint64_t columns)
{
    beginResetModel();
    m_elements = elements;
    m_columns = columns;
    m_changed = 0;
    for (int i = 0; i < elementCount(); ++i)
        m_changed += isChanged(i) ? 1 : 0;
    list();
    endResetModel();
}

void ElementModel::setOnlyChanged(bool on)
{
    if (on == m_onlyChanged)
        return;
    beginResetModel();
    m_onlyChanged = on;
    list();
    endResetModel();
}

void ElementModel::list()
{
    m_shown.clear();
    for (int i = 0; i < elementCount(); ++i) {
        if (!m_onlyChanged || isChanged(i))
            m_shown.push_back(i);
    }
    if (m_sortColumn == Index && m_order == Qt::AscendingOrder)
        return;
    std::stable_sort(m_shown.begin(), m_shown.end(), [&](int a, int b) {
        const double x = sortKey(a, m_sortColumn);
        const double y = sortKey(b, m_sortColumn);
        if (std::isnan(x) || std::isnan(y)) // what is not known stands last
            return !std::isnan(x) && std::isnan(y);
        return m_order == Qt::AscendingOrder ? x < y : y < x;
    });
}

void ElementModel::sort(int column, Qt::SortOrder order)
{
    emit layoutAboutToBeChanged();
    m_sortColumn = column;
    m_order = order;
    list();
    emit layoutChanged();
}

std::uint64_t ElementModel::rowOf(int element) const
{
    return m_elements->row + static_cast<std::uint64_t>(element) / std::max<std::uint64_t>(1, m_elements->cols);
}

std::uint64_t ElementModel::columnOf(int element) const
{
    return m_elements->col + static_cast<std::uint64_t>(element) % std::max<std::uint64_t>(1, m_elements->cols);
}

bool ElementModel::isChanged(int element) const
{
    const auto at = static_cast<std::size_t>(element);
    return !m_elements->oldBits.empty() && m_elements->oldBits[at] != m_elements->newBits[at];
}

std::optional<double> ElementModel::delta(int element) const
{
    const auto at = static_cast<std::size_t>(element);
    if (m_elements->oldValues.empty() || !m_elements->oldValues[at] || !m_elements->newValues[at])
        return std::nullopt;
    return *m_elements->newValues[at] - *m_elements->oldValues[at];
}

std::optional<std::uint64_t> ElementModel::ulps(int element) const
{
    const auto at = static_cast<std::size_t>(element);
    if (m_elements->oldBits.empty() || !isFloat(m_elements->dtype))
        return std::nullopt;
    const auto before = placeOf(m_elements->oldBits[at]);
    const auto after = placeOf(m_elements->newBits[at]);
    if (!before || !after)
        return std::nullopt;
    return *before < *after ? static_cast<std::uint64_t>(*after) - static_cast<std::uint64_t>(*before)
                            : static_cast<std::uint64_t>(*before) - static_cast<std::uint64_t>(*after);
}

int ElementModel::rowOfElement(int element) const
{
    const auto found = std::find(m_shown.begin(), m_shown.end(), element);
    return found == m_shown.end() ? -1 : static_cast<int>(found - m_shown.begin());
}

double ElementModel::sortKey(int element, int column) const
{
    constexpr double Unknown = std::numeric_limits<double>::quiet_NaN();
    const auto at = static_cast<std::size_t>(element);
    switch (column) {
    case Row:
        return static_cast<double>(rowOf(element));
    case Col:
        return static_cast<double>(columnOf(element));
    case OldValue:
        return m_elements->oldValues.empty() ? Unknown : m_elements->oldValues[at].value_or(Unknown);
    case NewValue:
        return m_elements->newValues[at].value_or(Unknown);
    case Delta:
        return std::abs(delta(element).value_or(Unknown));
    case Ulps: {
        const auto distance = ulps(element);
        return distance ? static_cast<double>(*distance) : Unknown;
    }
    default:
        return element;
    }
}

QString ElementModel::cell(int element, int column, bool exact) const
{
    const auto at = static_cast<std::size_t>(element);
    const QString nothing = exact ? QString() : unknownText();
    const auto number = [&](std::uint64_t n) { return exact ? QString::number(n) : exactText(n); };
    const auto value = [&](const std::optional<double>& v) {
        return !exact ? valueText(v) : v ? QString::number(*v, 'g', 17) : QString();
    };
    switch (column) {
    case Index:
        return number(rowOf(element) * m_columns + columnOf(element));
    case Row:
        return number(rowOf(element));
    case Col:
        return number(columnOf(element));
    case OldBits:
        return m_elements->oldBits.empty() ? nothing : QString::fromStdString(m_elements->oldBits[at]);
    case NewBits:
        return QString::fromStdString(m_elements->newBits[at]);
    case OldValue:
        return m_elements->oldValues.empty() ? nothing : value(m_elements->oldValues[at]);
    case NewValue:
        return value(m_elements->newValues[at]);
    case Delta:
        return exact || isChanged(element) ? value(delta(element)) : QString();
    case Ulps: {
        if (!exact && !isChanged(element))
            return {};
        const auto distance = ulps(element);
        return distance ? number(*distance) : nothing;
    }
    default:
        return {};
    }
}

QString ElementModel::asTsv() const
{
    QString text = QStringLiteral("index\trow\tcol\told_bits\tnew_bits\told\tnew\tdelta\tulps\n");
    for (const int element : m_shown) {
        QStringList cells;
        for (int column = 0; column < ColumnCount; ++column)
            cells << cell(element, column, true);
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    return text;
}

int ElementModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int ElementModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant ElementModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const int element = elementAt(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return cell(element, index.column(), false);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    case Qt::FontRole:
        if (index.column() == OldBits || index.column() == NewBits)
            return typeFont(Type::Mono);
        return isChanged(element) && !m_onlyChanged ? typeFont(Type::TableTitle) : typeFont(Type::Table);
    case Qt::ForegroundRole:
        return isChanged(element) ? color(Token::Text) : color(Token::Muted);
    default:
        return {};
    }
}

QVariant ElementModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole)
        return {};
    const QString names[ColumnCount] = { tr("index"),     tr("row"),       tr("column"), tr("old bits"), tr("new bits"),
                                         tr("old value"), tr("new value"), tr("Δ"),      tr("ULP") };
    return names[section];
}

} // namespace deltascope::desktop
