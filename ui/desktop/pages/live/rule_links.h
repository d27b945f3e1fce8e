#pragma once

#include <QString>

#include <functional>
#include <vector>

class QMenu;

namespace deltascope::desktop {

/// A rule about what a tile or a chart shows; the text goes on after "Alert me when".
struct RuleLink {
    QString rule;
    QString text;
};

std::vector<RuleLink> rulesOfHealth();
std::vector<RuleLink> rulesOfTile(int tile); ///< of KpiRow::Tile
std::vector<RuleLink> rulesOfPlot(int plot); ///< of LivePage::Plot

/// "Alert me when…" with an entry per rule; none without rules.
void addRuleLinks(QMenu& menu, const std::vector<RuleLink>& links, const std::function<void(const QString& rule)>& act);

} // namespace deltascope::desktop
