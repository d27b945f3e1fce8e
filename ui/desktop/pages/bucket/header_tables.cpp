#include "pages/bucket/header_tables.h"

#include "look/format.h"
#include "look/look.h"

#include <algorithm>
#include <numeric>

namespace deltascope::desktop {

namespace {

constexpr int MostText = 400; ///< of a value, in the table; the tooltip has more
constexpr int MostTip = 2000;

QVariant alignment(bool number)
{
    return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
}

}

void MetadataTable::show(HeaderPointer header)
{
    beginResetModel();
    m_rows.clear();
    if (header) {
        for (const auto& [name, value] : header->metadata)
            m_rows.emplace_back(safeName(name.substr(0, MostTip)), safeName(value.substr(0, MostTip)));
    }
    endResetModel();
}

int MetadataTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int MetadataTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 2; }

QVariant MetadataTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto& [name, value] = m_rows[static_cast<std::size_t>(index.row())];
    const QString& text = index.column() == 0 ? name : value;
    if (role == Qt::DisplayRole)
        return shortened(text, MostText);
    if (role == Qt::ToolTipRole)
        return text;
    if (role == Qt::FontRole)
        return typeFont(index.column() == 0 ? desktop::Type::Table : desktop::Type::Mono);
    return {};
}

QVariant MetadataTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == 0 ? tr("name") : tr("value");
}

void TensorTable::show(HeaderPointer header)
{
    beginResetModel();
    m_header = std::move(header);
    m_order.resize(m_header ? m_header->tensors.size() : 0);
    std::iota(m_order.begin(), m_order.end(), std::size_t { 0 });
    if (m_header) {
        const auto& tensors = m_header->tensors;
        std::stable_sort(m_order.begin(), m_order.end(),
                         [&](std::size_t x, std::size_t y) { return tensors[x].bytes > tensors[y].bytes; });
    }
    endResetModel();
}

int TensorTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

int TensorTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant TensorTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const app::HeaderView::Tensor& tensor = m_header->tensors[m_order[static_cast<std::size_t>(index.row())]];
    if (role == Qt::TextAlignmentRole)
        return alignment(index.column() == Bytes);
    if (role == Qt::ToolTipRole)
        return index.column() == Bytes ? tr("%1 bytes").arg(exactText(tensor.bytes))
            : index.column() == Name   ? safeName(tensor.name)
            : index.column() == Form   ? index.data().toString()
                                       : QVariant();
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case Name:
        return shortened(safeName(tensor.name), 120);
    case Form:
        return tr("%1, %2").arg(safeName(tensor.dtype), shapeText(tensor.shape));
    case Bytes:
        return bytesText(tensor.bytes);
    default:
        return {};
    }
}

QVariant TensorTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return alignment(section == Bytes);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("tensor");
    case Form:
        return tr("dtype, shape");
    case Bytes:
        return tr("bytes");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
