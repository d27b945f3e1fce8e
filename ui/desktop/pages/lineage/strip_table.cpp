#include "pages/lineage/strip_table.h"

#include "look/format.h"
#include "look/marks.h"
#include "pages/lineage/lineage_text.h"

namespace deltascope::desktop {

namespace {

struct StripColumn {
    enum : int { Kind, State, Bytes, Published, ColumnCount };
};

}

void StripTable::show(LineagePointer picture)
{
    beginResetModel();
    m_picture = std::move(picture);
    endResetModel();
}

int StripTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_picture ? 0 : static_cast<int>(m_picture->rows().size());
}

int StripTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : StripColumn::ColumnCount; }

QVariant StripTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_picture)
        return {};
    const app::StepView& step = *m_picture->rows()[static_cast<std::size_t>(index.row())].step;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment((index.column() >= StripColumn::Bytes ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case StripColumn::Kind:
        return isHole(step) ? unknownText() : kindText(step.kind);
    case StripColumn::State:
        return stepStateText(step.state);
    case StripColumn::Bytes:
        return isHole(step) ? unknownText() : bytesText(step.wireBytes);
    case StripColumn::Published:
        return isHole(step) ? unknownText() : clockText(step.publishedUs, ServiceBridge::nowUs());
    default:
        return {};
    }
}

QVariant StripTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_picture)
        return {};
    if (orientation == Qt::Vertical)
        return section < rowCount() ? tr("step %1").arg(stepText(m_picture->rows()[static_cast<std::size_t>(section)]))
                                    : QString();
    switch (section) {
    case StripColumn::Kind:
        return tr("kind");
    case StripColumn::State:
        return tr("state");
    case StripColumn::Bytes:
        return tr("bytes");
    case StripColumn::Published:
        return tr("published");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
