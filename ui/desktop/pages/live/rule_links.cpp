#include "pages/live/rule_links.h"

#include "pages/live/kpi_row.h"
#include "pages/live/live_page.h"

#include <QCoreApplication>
#include <QMenu>

namespace deltascope::desktop {

namespace {

struct RuleLinkWords {
    Q_DECLARE_TR_FUNCTIONS(RuleLinks)
};

RuleLink densityShift()
{
    return { QStringLiteral("density-shift"), RuleLinkWords::tr("the changed share is unusual…") };
}
RuleLink densityHigh() { return { QStringLiteral("density-high"), RuleLinkWords::tr("deltas hardly pay…") }; }
RuleLink pauseLong() { return { QStringLiteral("pause-long"), RuleLinkWords::tr("a pause is unusually long…") }; }
RuleLink replicaLag() { return { QStringLiteral("replica-lag"), RuleLinkWords::tr("a replica is behind…") }; }
RuleLink storage() { return { QStringLiteral("storage"), RuleLinkWords::tr("the run grows too large…") }; }
RuleLink stalled() { return { QStringLiteral("publish-stalled"), RuleLinkWords::tr("nothing new is published…") }; }

}

std::vector<RuleLink> rulesOfTile(int tile)
{
    switch (tile) {
    case KpiRow::Latest:
        return { { QStringLiteral("chain-gap"), RuleLinkWords::tr("a version is missing…") },
                 { QStringLiteral("anchor-overdue"), RuleLinkWords::tr("an anchor is overdue…") } };
    case KpiRow::Age:
        return { stalled() };
    case KpiRow::Changed:
        return { densityShift() };
    case KpiRow::DeltaSize:
        return { densityHigh(), storage() };
    case KpiRow::Paused:
        return { pauseLong() };
    default:
        return { replicaLag() };
    }
}

std::vector<RuleLink> rulesOfHealth()
{
    return { { QStringLiteral("verify-behind"), RuleLinkWords::tr("too much is not verified…") } };
}

std::vector<RuleLink> rulesOfPlot(int plot)
{
    switch (plot) {
    case LivePage::Changed:
        return { densityShift() };
    case LivePage::DeltaSize:
        return { densityHigh(), storage() };
    case LivePage::Lag:
        return { replicaLag() };
    default:
        return { pauseLong() };
    }
}

void addRuleLinks(QMenu& menu, const std::vector<RuleLink>& links, const std::function<void(const QString& rule)>& act)
{
    if (links.empty())
        return;
    QMenu* rules = menu.addMenu(RuleLinkWords::tr("Alert me when"));
    for (const RuleLink& link : links)
        rules->addAction(link.text, &menu, [act, rule = link.rule] { act(rule); });
}

} // namespace deltascope::desktop
