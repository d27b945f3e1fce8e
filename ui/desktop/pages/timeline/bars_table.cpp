#include "pages/timeline/bars_table.h"

#include "look/format.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

// The first columns; the others are the phases but the pause.
struct BarsColumn {
    enum : int { Actor, Total, Paused, FirstPhase };
};

}

void BarsTable::setModel(TimelinePointer model)
{
    beginResetModel();
    m_model = std::move(model);
    endResetModel();
}

int BarsTable::rowOf(std::int64_t step) const
{
    if (!m_model)
        return -1;
    const auto& all = m_model->syncs;
    const auto at = std::lower_bound(all.begin(), all.end(), step,
                                     [](const BarSlot& slot, std::int64_t number) { return slot.step < number; });
    return at != all.end() && at->step == step ? static_cast<int>(at - all.begin()) : -1;
}

int BarsTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_model ? 0 : static_cast<int>(m_model->syncs.size());
}

int BarsTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : BarsColumn::FirstPhase + static_cast<int>(PhaseGroups.size()) - 1;
}

std::optional<double> BarsTable::seconds(const app::BarView& bar, int column) const
{
    if (column == BarsColumn::Total)
        return secondsOf(bar.t1Us - bar.t0Us);
    if (column == BarsColumn::Paused)
        return secondsOf(bar.pauseUs);
    if (hasNoBreakdown(bar))
        return std::nullopt;
    const PhaseGroup group = PhaseGroups[static_cast<std::size_t>(column - BarsColumn::FirstPhase + 1)];
    std::optional<double> sum;
    for (const Stretch& stretch : stretchesOf(bar)) {
        if (stretch.group == group)
            sum = sum.value_or(0) + secondsOf(stretch.toUs - stretch.fromUs);
    }
    return sum;
}

QVariant BarsTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_model)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter
                                   | (index.column() == BarsColumn::Actor ? Qt::AlignLeft : Qt::AlignRight));
    const BarSlot& slot = m_model->syncs[static_cast<std::size_t>(index.row())];
    if (role != Qt::DisplayRole)
        return {};
    if (!slot.bar)
        return unknownText();
    const app::BarView& bar = m_model->view.bars[*slot.bar];
    if (index.column() == BarsColumn::Actor)
        return bar.actor.empty() ? tr("publisher only") : safeName(bar.actor);
    return durationText(seconds(bar, index.column()));
}

QVariant BarsTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_model)
        return {};
    if (orientation == Qt::Vertical)
        return section < rowCount() ? QVariant(tr("step %1").arg(step(section))) : QVariant();
    switch (section) {
    case BarsColumn::Actor:
        return tr("replica");
    case BarsColumn::Total:
        return tr("sync total");
    case BarsColumn::Paused:
        return tr("paused");
    default:
        return groupText(PhaseGroups[static_cast<std::size_t>(section - BarsColumn::FirstPhase + 1)]).toLower();
    }
}

QByteArray BarsTable::csv() const
{
    QByteArray text = "step,replica,total_s,paused_s,verify_s,fetch_s,upload_s,diff_s,resume_s,waiting_s\n";
    for (int row = 0; row < rowCount(); ++row) {
        const BarSlot& slot = m_model->syncs[static_cast<std::size_t>(row)];
        if (!slot.bar)
            continue;
        const app::BarView& bar = m_model->view.bars[*slot.bar];
        QString actor = safeName(bar.actor);
        text += QByteArray::number(static_cast<qlonglong>(slot.step)) + ",\""
            + actor.replace(QLatin1Char('"'), QStringLiteral("\"\"")).toUtf8() + '"';
        for (int column = BarsColumn::Total; column < columnCount(); ++column) {
            const auto value = seconds(bar, column);
            text += ',' + (value ? QByteArray::number(*value, 'f', 6) : QByteArray());
        }
        text += '\n';
    }
    return text;
}

} // namespace deltascope::desktop
