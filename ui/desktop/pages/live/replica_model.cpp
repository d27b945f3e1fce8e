#include "pages/live/replica_model.h"

#include "deltascope/app/view/replica_state.h"
#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QFont>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

QString replicaText(const app::ReplicaView& replica)
{
    if (hasStopped(replica))
        return ReplicaModel::tr("○ stopped");
    if (!replica.doubt.empty())
        return ReplicaModel::tr("○ no sign: %1").arg(QString::fromStdString(replica.doubt));
    if (replica.late)
        return ReplicaModel::tr("○ no sign for %1").arg(ageText(replica.ageSeconds));
    if (replica.foreign)
        return ReplicaModel::tr("✕ foreign: no step of this run");
    if (isPoisoned(replica))
        return ReplicaModel::tr("✕ half-written weights");
    if (!replica.behind)
        return ReplicaModel::tr("? step not known");
    if (*replica.behind == 0 && refusesStep(replica))
        return ReplicaModel::tr("✕ refuses a step");
    QString text = *replica.behind > 0 ? ReplicaModel::tr("◔ behind") : ReplicaModel::tr("● in sync");
    if (!replica.state.empty() && replica.state != "serving") // its own word
        text += QStringLiteral(", ") + shortened(safeName(replica.state), 20);
    return text;
}

void ReplicaModel::setReplicas(std::vector<app::ReplicaHistoryView> replicas)
{
    const bool same = std::equal(replicas.begin(), replicas.end(), m_replicas.begin(), m_replicas.end(),
                                 [](const auto& a, const auto& b) { return a.replica.id == b.replica.id; });
    if (same) {
        m_replicas = std::move(replicas);
        if (!m_replicas.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_replicas = std::move(replicas);
    endResetModel();
}

int ReplicaModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_replicas.size());
}

int ReplicaModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString ReplicaModel::text(const app::ReplicaHistoryView& view, int column) const
{
    const app::ReplicaView& replica = view.replica;
    switch (column) {
    case Id:
        return shortened(safeName(replica.id), 28);
    case Engine:
        return replica.engine.empty() ? unknownText() : shortened(safeName(replica.engine), 24);
    case Serving:
        return replica.step ? QString::number(*replica.step) : unknownText();
    case State:
        return replicaText(replica);
    case Lag:
        if (!replica.behind)
            return unknownText();
        if (*replica.behind == 0 || !view.lagSeconds)
            return QString::number(*replica.behind);
        return QStringLiteral("%1 · %2").arg(*replica.behind).arg(ageText(view.lagSeconds));
    case History: {
        const auto first = view.lagHistory.end()
            - static_cast<std::ptrdiff_t>(std::min<std::size_t>(HistoryLength, view.lagHistory.size()));
        if (first == view.lagHistory.end())
            return unknownText();
        return tr("at worst %1 behind").arg(*std::max_element(first, view.lagHistory.end()));
    }
    case LastPause:
        return durationText(view.lastPauseMs ? std::optional(*view.lastPauseMs / 1e3) : std::nullopt);
    case Paused:
        return percentText(view.pausedFraction);
    case Contact:
        return tr("%1 ago").arg(ageText(replica.ageSeconds));
    default:
        return {};
    }
}

QVariant ReplicaModel::ink(const app::ReplicaHistoryView& view, int column) const
{
    const app::ReplicaView& replica = view.replica;
    if ((replica.foreign || isPoisoned(replica) || refusesStep(replica)) && (column == State || column == Lag))
        return color(Token::Error);
    const bool quiet = column == Engine || column == Contact || (column == Lag && replica.behind == 0);
    return replica.late || quiet ? QVariant(color(Token::Muted)) : QVariant();
}

QVariant ReplicaModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const app::ReplicaHistoryView& view = replica(index.row());
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(view, column);
    case Qt::ToolTipRole:
        if (column == Serving)
            return tr("Serving when last asked, not the version of any one token");
        return column == State && !view.replica.detail.empty() ? safeName(view.replica.detail) : text(view, column);
    case Qt::ForegroundRole:
        return ink(view, column);
    case Qt::FontRole: {
        QFont font = typeFont(Type::Table);
        const bool strong =
            column == Id || column == Serving || (column == Lag && view.replica.behind.value_or(0) != 0);
        font.setWeight(strong ? QFont::DemiBold : QFont::Normal);
        return font;
    }
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            (column == Id || column == Engine || column == State || column == History ? Qt::AlignLeft : Qt::AlignRight)
            | Qt::AlignVCenter);
    case HistoryRole: {
        QVariantList lags;
        const std::size_t count = std::min<std::size_t>(HistoryLength, view.lagHistory.size());
        for (std::size_t i = view.lagHistory.size() - count; i < view.lagHistory.size(); ++i)
            lags.append(QVariant::fromValue(static_cast<qlonglong>(view.lagHistory[i])));
        return lags;
    }
    default:
        return {};
    }
}

QVariant ReplicaModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Id || section == Engine || section == State || section == History
                                        ? Qt::AlignLeft
                                        : Qt::AlignRight)
                                   | Qt::AlignVCenter);
    if (role == Qt::FontRole)
        return typeFont(Type::Label);
    if (role != Qt::DisplayRole)
        return {};
    const std::array<QString, ColumnCount> heads { tr("id"),         tr("engine"),      tr("says it serves"),
                                                   tr("state"),      tr("lag"),         tr("last 60 steps"),
                                                   tr("last pause"), tr("paused, 1 h"), tr("contact") };
    return heads[static_cast<std::size_t>(section)];
}

} // namespace deltascope::desktop
