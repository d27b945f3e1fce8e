#include "pages/timeline/spans_table.h"

#include "look/format.h"

#include <QDateTime>

namespace deltascope::desktop {

namespace {

struct SpansColumn {
    enum : int { Phase, Step, Start, Length, Bytes, Columns };
};

}

void SpansTable::setModel(TimelinePointer model)
{
    beginResetModel();
    m_model = std::move(model);
    endResetModel();
}

int SpansTable::rowOf(std::int64_t step) const
{
    for (int row = 0; row < rowCount(); ++row) {
        if (this->step(row) == step)
            return row;
    }
    return -1;
}

int SpansTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_model ? 0 : static_cast<int>(m_model->clock.spans.size());
}

int SpansTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : SpansColumn::Columns; }

QVariant SpansTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_model)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter
                                   | (index.column() == SpansColumn::Phase ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole)
        return {};
    const app::SpanView& span = m_model->clock.spans[static_cast<std::size_t>(index.row())];
    switch (index.column()) {
    case SpansColumn::Phase:
        return safeName(span.phase);
    case SpansColumn::Step:
        return QString::number(span.step);
    case SpansColumn::Start:
        return QDateTime::fromMSecsSinceEpoch(span.t0Us / 1000).toString(QStringLiteral("HH:mm:ss.zzz"));
    case SpansColumn::Length:
        return durationText(secondsOf(span.t1Us - span.t0Us));
    case SpansColumn::Bytes:
        return span.bytes > 0 ? bytesText(span.bytes) : unknownText();
    default:
        return {};
    }
}

QVariant SpansTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_model)
        return {};
    if (orientation == Qt::Vertical)
        return section < rowCount() ? QVariant(safeName(m_model->clock.spans[static_cast<std::size_t>(section)].actor))
                                    : QVariant();
    switch (section) {
    case SpansColumn::Phase:
        return tr("phase");
    case SpansColumn::Step:
        return tr("step");
    case SpansColumn::Start:
        return tr("start");
    case SpansColumn::Length:
        return tr("length");
    case SpansColumn::Bytes:
        return tr("bytes");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
