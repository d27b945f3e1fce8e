#include "pages/bucket/bucket_model.h"

#include "look/format.h"
#include "look/marks.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int MostMoved = 2000; ///< rows; above it a view that looks at all anew is quicker

}

void BucketModel::show(BucketPointer picture)
{
    m_asked = false;
    if (!picture || !m_picture || picture->prefix != m_picture->prefix)
        return reset(std::move(picture));
    // Mostly rows come at one end or in one place: all between what is equal at both ends is exchanged.
    const auto& old = m_picture->rows;
    const auto& now = picture->rows;
    const std::size_t both = std::min(old.size(), now.size());
    std::size_t head = 0;
    while (head < both && old[head].key == now[head].key)
        ++head;
    std::size_t tail = 0;
    while (tail < both - head && old[old.size() - 1 - tail].key == now[now.size() - 1 - tail].key)
        ++tail;
    const int first = static_cast<int>(head);
    const int gone = static_cast<int>(old.size() - head - tail);
    const int come = static_cast<int>(now.size() - head - tail);
    if (gone > MostMoved || come > MostMoved)
        return reset(std::move(picture));
    if (gone > 0) {
        beginRemoveRows({}, first, first + gone - 1);
        auto left = std::make_shared<BucketPicture>(*m_picture);
        left->rows.erase(left->rows.begin() + first, left->rows.begin() + first + gone);
        m_picture = std::move(left);
        m_shown -= gone;
        endRemoveRows();
    }
    if (come > 0)
        beginInsertRows({}, first, first + come - 1);
    m_picture = std::move(picture);
    m_shown = static_cast<int>(m_picture->rows.size());
    if (come > 0)
        endInsertRows();
    if (m_shown > 0)
        emit dataChanged(index(0, 0), index(m_shown - 1, BucketWish::ColumnCount - 1));
}

void BucketModel::reset(BucketPointer picture)
{
    beginResetModel();
    m_picture = std::move(picture);
    m_shown = m_picture ? static_cast<int>(m_picture->rows.size()) : 0;
    endResetModel();
}

QModelIndex BucketModel::indexOf(const std::string& key) const
{
    if (!m_picture)
        return {};
    const auto& rows = m_picture->rows;
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.key == key; });
    return found == rows.end() ? QModelIndex() : index(static_cast<int>(found - rows.begin()), 0);
}

int BucketModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_shown; }
int BucketModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : BucketWish::ColumnCount; }

bool BucketModel::canFetchMore(const QModelIndex& parent) const
{
    return !parent.isValid() && m_picture && !m_picture->complete && !m_asked;
}

void BucketModel::fetchMore(const QModelIndex& parent)
{
    if (!canFetchMore(parent))
        return;
    m_asked = true;
    emit moreWanted();
}

QVariant BucketModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= m_shown)
        return {};
    const app::ListingRowView& shown = row(index.row());
    if (role == Qt::TextAlignmentRole)
        return headerData(index.column(), Qt::Horizontal, role);
    if (role == Qt::ToolTipRole) {
        switch (index.column()) {
        case BucketWish::Name:
            return safeName(shown.key);
        case BucketWish::Size:
            return tr("%1 bytes").arg(exactText(shown.sizeBytes));
        case BucketWish::NeededBy:
            return whyNeededText(shown);
        case BucketWish::Modified:
            return fullTimeText(shown.modifiedUs);
        default:
            return {};
        }
    }
    if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)
        return {};
    switch (index.column()) {
    case BucketWish::Name:
        return safeName(nameInFolder(shown, m_picture->prefix));
    case BucketWish::Kind:
        return objectKindText(shown);
    case BucketWish::Step:
        return shown.step ? QString::number(*shown.step) : unknownText();
    case BucketWish::Size:
        return bytesText(shown.sizeBytes);
    case BucketWish::NeededBy:
        return neededByText(shown);
    case BucketWish::Modified:
        return agoText(shown.modifiedUs, ServiceBridge::nowUs());
    case BucketWish::State:
        return shown.state.empty() ? QString() : stepStateText(shown.state);
    default:
        return {};
    }
}

QVariant BucketModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const bool number = section >= BucketWish::Step && section <= BucketWish::Modified;
        return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case BucketWish::Name:
        return tr("name");
    case BucketWish::Kind:
        return tr("kind");
    case BucketWish::Step:
        return tr("step");
    case BucketWish::Size:
        return tr("size");
    case BucketWish::NeededBy:
        return tr("needed by");
    case BucketWish::Modified:
        return tr("modified");
    case BucketWish::State:
        return tr("state");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
