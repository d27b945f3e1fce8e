#include "pages/tensors/tensor_model.h"

#include "heat/color_map.h"
#include "heat/tensor_filter.h"
#include "look/format.h"
#include "look/look.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr quintptr TopLevel = 0; ///< else the number of the group, from 1

}

void TensorModel::setListing(const TensorListingPointer& listing, bool same)
{
    if (same && m_listing && listing) {
        m_listing = listing;
        if (rowCount() > 0)
            emit dataChanged(index(0, 0), index(rowCount() - 1, TensorOrder::ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_listing = listing;
    endResetModel();
}

const TensorListing::Item& TensorModel::itemAt(const QModelIndex& index) const
{
    const auto row = static_cast<std::size_t>(index.row());
    return index.internalId() == TopLevel ? m_listing->items[row]
                                          : m_listing->items[index.internalId() - 1].children[row];
}

int TensorModel::tensorAt(const QModelIndex& index) const { return index.isValid() ? itemAt(index).tensor : -1; }

QModelIndex TensorModel::indexOf(const std::string& tensor) const
{
    if (!m_listing || tensor.empty())
        return {};
    const auto is = [&](const TensorListing::Item& item) {
        return item.tensor >= 0 && m_listing->tensor(item.tensor).name == tensor;
    };
    for (std::size_t top = 0; top < m_listing->items.size(); ++top) {
        const TensorListing::Item& item = m_listing->items[top];
        if (is(item))
            return createIndex(static_cast<int>(top), 0, TopLevel);
        const auto child = std::find_if(item.children.begin(), item.children.end(), is);
        if (child != item.children.end())
            return createIndex(static_cast<int>(child - item.children.begin()), 0, top + 1);
    }
    return {};
}

QModelIndex TensorModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : TopLevel);
}

QModelIndex TensorModel::parent(const QModelIndex& index) const
{
    if (!index.isValid() || index.internalId() == TopLevel)
        return {};
    return createIndex(static_cast<int>(index.internalId() - 1), 0, TopLevel);
}

int TensorModel::rowCount(const QModelIndex& parent) const
{
    if (!m_listing || parent.column() > 0)
        return 0;
    if (!parent.isValid())
        return static_cast<int>(m_listing->items.size());
    return parent.internalId() == TopLevel ? static_cast<int>(itemAt(parent).children.size()) : 0;
}

int TensorModel::columnCount(const QModelIndex&) const { return TensorOrder::ColumnCount; }

QString TensorModel::text(const TensorListing::Item& item, int column) const
{
    switch (column) {
    case TensorOrder::Name:
        return item.label;
    case TensorOrder::Shape:
        return item.tensor < 0 ? pluralText(item.children.size(), tr("tensor"))
                               : shapeText(m_listing->tensor(item.tensor).shape);
    case TensorOrder::Dtype:
        return item.tensor < 0 ? QString() : safeName(m_listing->tensor(item.tensor).dtype).toLower();
    case TensorOrder::Elements:
        return countText(item.elements);
    case TensorOrder::LastChanged:
        return item.lastChanged < 0 ? unknownText() : QString::number(item.lastChanged);
    case TensorOrder::TotalChanged:
        return m_listing->knownColumns == 0 ? unknownText() : countText(item.changed);
    default:
        return {};
    }
}

QString TensorModel::tip(const TensorListing::Item& item, int column) const
{
    switch (column) {
    case TensorOrder::Name:
        return item.tensor < 0 ? item.label : safeName(m_listing->tensor(item.tensor).name);
    case TensorOrder::Elements:
        return exactText(item.elements);
    case TensorOrder::LastChanged:
        return item.lastChanged < 0 ? tr("No version that was read changed it") : tr("The newest step that changed it");
    case TensorOrder::TotalChanged:
        return m_listing->knownColumns == 0
            ? tr("Not known until a delta was read")
            : tr("%1 changed over %2").arg(exactText(item.changed), pluralText(m_listing->knownColumns, tr("version")));
    default:
        return {};
    }
}

QVariant TensorModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const TensorListing::Item& item = itemAt(index);
    switch (role) {
    case Qt::DisplayRole:
        return text(item, index.column());
    case Qt::ToolTipRole:
        return tip(item, index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            (index.column() >= TensorOrder::Elements ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case Qt::ForegroundRole:
        if (index.column() == TensorOrder::Shape && item.tensor < 0)
            return color(Token::Muted);
        return {};
    default:
        return {};
    }
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((section >= TensorOrder::Elements ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole)
        return {};
    const QString names[TensorOrder::ColumnCount] = { tr("tensor"),   tr("shape"),       tr("dtype"),
                                                      tr("elements"), tr("last change"), tr("changed") };
    return names[section];
}

void TensorModel::sort(int column, Qt::SortOrder order) { emit sortWanted(column, order == Qt::DescendingOrder); }

} // namespace deltascope::desktop
