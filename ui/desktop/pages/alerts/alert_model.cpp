#include "pages/alerts/alert_model.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QFont>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

bool isOver(const app::AlertView& alert) { return alert.state == app::AlertState::Cleared; }

}

QString alertLevelText(app::AlertLevel level)
{
    switch (level) {
    case app::AlertLevel::Error:
        return AlertModel::tr("✕ error");
    case app::AlertLevel::Warn:
        return AlertModel::tr("⚑ warn");
    case app::AlertLevel::Info:
        break;
    }
    return AlertModel::tr("info");
}

bool isSnoozed(const app::AlertView& alert, std::int64_t nowUs)
{
    return alert.state != app::AlertState::Cleared && alert.snoozedUntilUs && nowUs < *alert.snoozedUntilUs;
}

QString alertStateText(const app::AlertView& alert, std::int64_t nowUs)
{
    if (alert.state == app::AlertState::Cleared)
        return AlertModel::tr("cleared");
    if (isSnoozed(alert, nowUs))
        return AlertModel::tr("snoozed");
    return alert.state == app::AlertState::Acked ? AlertModel::tr("acknowledged") : AlertModel::tr("firing");
}

QString AlertModel::runName(const app::AlertView& alert) const
{
    const QString name = m_runs.value(QString::fromStdString(alert.run));
    return name.isEmpty() ? safeName(alert.run) : name;
}

bool AlertModel::passes(const app::AlertView& alert, const QStringList& words, std::int64_t nowUs) const
{
    const QString text =
        QStringLiteral("%1 %2 %3 %4 %5 %6 %7")
            .arg(QString::fromStdString(alert.rule), runName(alert), safeName(alert.title), safeName(alert.text),
                 safeName(alert.replica.value_or("")), alertLevelText(alert.level), alertStateText(alert, nowUs));
    return std::all_of(words.begin(), words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

void AlertModel::setAlerts(const std::vector<app::AlertView>& alerts, QHash<QString, QString> runs,
                           const QString& filter, std::int64_t nowUs)
{
    m_runs = std::move(runs);
    const QStringList words = filter.split(QChar(u' '), Qt::SkipEmptyParts);
    std::vector<app::AlertView> wanted;
    std::copy_if(alerts.begin(), alerts.end(), std::back_inserter(wanted),
                 [&](const app::AlertView& alert) { return passes(alert, words, nowUs); });
    const bool same = std::equal(wanted.begin(), wanted.end(), m_alerts.begin(), m_alerts.end(),
                                 [](const auto& a, const auto& b) { return a.id == b.id; });
    m_nowUs = nowUs;
    if (same) { // the selection stays
        m_alerts = std::move(wanted);
        if (!m_alerts.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_alerts = std::move(wanted);
    endResetModel();
}

int AlertModel::rowOf(const std::string& id) const
{
    const auto found =
        std::find_if(m_alerts.begin(), m_alerts.end(), [&](const app::AlertView& alert) { return alert.id == id; });
    return found == m_alerts.end() ? -1 : static_cast<int>(found - m_alerts.begin());
}

int AlertModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_alerts.size());
}

int AlertModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString AlertModel::text(const app::AlertView& alert, int column) const
{
    switch (column) {
    case Level:
        return alertLevelText(alert.level);
    case Rule:
        return QString::fromStdString(alert.rule);
    case Title:
        return safeName(alert.title);
    case Subject:
        return alert.replica ? shortened(safeName(*alert.replica), 24)
            : alert.step     ? tr("step %1").arg(*alert.step)
                             : unknownText();
    case Run:
        return runName(alert);
    case Since:
        return clockText(alert.firstUs, m_nowUs);
    case State:
        return alertStateText(alert, m_nowUs);
    default:
        return {};
    }
}

QVariant AlertModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const app::AlertView& alert = this->alert(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(alert, index.column());
    case Qt::ToolTipRole:
        return index.column() == Since ? fullTimeText(alert.firstUs) : safeName(alert.text);
    case Qt::ForegroundRole:
        if (isOver(alert))
            return color(Token::Muted);
        if (alert.level == app::AlertLevel::Error && (index.column() == Level || index.column() == Rule))
            return color(Token::Error);
        return {};
    case Qt::FontRole: {
        QFont font = typeFont(Type::Table);
        font.setWeight(index.column() == Rule && !isOver(alert) ? QFont::DemiBold : QFont::Normal);
        return font;
    }
    default:
        return {};
    }
}

QVariant AlertModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
    if (role == Qt::FontRole)
        return typeFont(Type::Label);
    if (role != Qt::DisplayRole)
        return {};
    const std::array<QString, ColumnCount> heads { tr("level"), tr("rule"),  tr("what"), tr("of"),
                                                   tr("run"),   tr("since"), tr("state") };
    return heads[static_cast<std::size_t>(section)];
}

} // namespace deltascope::desktop
