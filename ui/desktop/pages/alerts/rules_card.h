#pragma once

#include "bridge/calculation.h"
#include "bridge/service_bridge.h"
#include "widgets/cards.h"

#include <map>
#include <vector>

class QScrollArea;

namespace deltascope::desktop {

class RuleRow;

/// The rules, and when each would have fired on what is in the run. GUI thread.
class RulesCard final : public Card {
    Q_OBJECT

public:
    /// `engine` outlives it.
    explicit RulesCard(app::Alerts& engine, QWidget* parent = nullptr);

    void setRules(const std::vector<app::AlertRuleView>& rules);
    /// The run that back-tests look at; results of another one are forgotten. Null: none.
    void setRun(RunPointer run);
    RuleRow* row(const std::string& rule) const; ///< null: no such rule
    void testAll();
    /// Scrolls to a rule and focuses its threshold, or its switch where it has none.
    void edit(const std::string& rule);

signals:
    void stepWanted(std::int64_t step);
    void rulesChanged();

private:
    void addRow(const app::AlertRuleView& rule);
    void change(const std::string& rule, bool on, std::optional<double> threshold);
    void test(const std::string& rule);
    void testNext();

    app::Alerts& m_engine;
    RunPointer m_run;
    QScrollArea* m_scroll;
    QWidget* m_list;
    std::map<std::string, RuleRow*> m_rows;
    std::vector<std::string> m_waiting; ///< rules to be tested, the next one last
    Calculation<std::shared_ptr<Result<app::BacktestView>>> m_test;
};

} // namespace deltascope::desktop
