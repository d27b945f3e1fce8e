#include "pages/alerts/rules_card.h"

#include "bridge/background.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/alerts/rule_row.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

RulesCard::RulesCard(app::Alerts& engine, QWidget* parent)
    : Card(tr("Rules"), parent)
    , m_engine(engine)
    , m_scroll(new QScrollArea)
    , m_list(new QWidget)
{
    QPushButton* all = makeButton(tr("Back-test all"), {}, "small");
    all->setToolTip(tr("When each rule would have fired in this run"));
    connect(all, &QPushButton::clicked, this, &RulesCard::testAll);
    header()->addWidget(all);
    auto* rows = new QVBoxLayout(m_list);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addStretch(1);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    m_scroll->setWidget(m_list);
    m_list->setAutoFillBackground(false); // the card shines through; setWidget() has switched it on
    content()->addWidget(makeLine());
    content()->addWidget(m_scroll, 1);
}

RuleRow* RulesCard::row(const std::string& rule) const
{
    const auto found = m_rows.find(rule);
    return found == m_rows.end() ? nullptr : found->second;
}

void RulesCard::setRules(const std::vector<app::AlertRuleView>& rules)
{
    for (const app::AlertRuleView& rule : rules) {
        if (RuleRow* known = row(rule.id))
            known->setRule(rule);
        else
            addRow(rule);
    }
    const auto on = std::count_if(rules.begin(), rules.end(), [](const auto& rule) { return rule.on; });
    setNote(tr("%1 of %2 on").arg(on).arg(rules.size()));
}

void RulesCard::addRow(const app::AlertRuleView& rule)
{
    auto* row = new RuleRow(rule);
    connect(row, &RuleRow::changed, this, &RulesCard::change);
    connect(row, &RuleRow::backtestWanted, this, &RulesCard::test);
    connect(row, &RuleRow::stepWanted, this, &RulesCard::stepWanted);
    auto* rows = static_cast<QVBoxLayout*>(m_list->layout());
    if (!m_rows.empty())
        rows->insertWidget(rows->count() - 1, makeLine());
    rows->insertWidget(rows->count() - 1, row);
    m_rows.emplace(rule.id, row);
}

void RulesCard::edit(const std::string& rule)
{
    RuleRow* wanted = row(rule);
    if (!wanted)
        return;
    m_list->layout()->activate(); // rows that were just made have no place yet
    m_scroll->ensureWidgetVisible(wanted);
    wanted->edit();
}

void RulesCard::setRun(RunPointer run)
{
    const bool same = run && m_run && run->id == m_run->id;
    m_run = std::move(run);
    if (same)
        return;
    m_waiting.clear();
    for (const auto& [id, row] : m_rows)
        row->clearBacktest();
}

void RulesCard::change(const std::string& rule, bool on, std::optional<double> threshold)
{
    inBackground(
        this, [&engine = m_engine, rule, on, threshold] { return engine.set(rule, on, threshold); },
        [this, rule](const Result<void>& done) {
            emit rulesChanged(); // shows what holds now, also after a refusal
            if (!done)
                row(rule)->setError(safeName(done.error().text));
            else
                row(rule)->clearBacktest();
        });
}

void RulesCard::test(const std::string& rule)
{
    if (!m_run || !m_run->run)
        return;
    row(rule)->setTesting();
    m_waiting.insert(m_waiting.begin(), rule);
    testNext();
}

void RulesCard::testAll()
{
    for (const auto& [id, row] : m_rows) {
        if (row->rule().on && std::find(m_waiting.begin(), m_waiting.end(), id) == m_waiting.end())
            test(id);
    }
}

void RulesCard::testNext()
{
    if (m_test.isRunning() || m_waiting.empty())
        return;
    const std::string rule = m_waiting.back();
    m_waiting.pop_back();
    m_test.start([&engine = m_engine, run = m_run,
                  rule] { return std::make_shared<Result<app::BacktestView>>(engine.backtest(*run, rule)); },
                 [this, id = m_run->id, rule](const std::shared_ptr<Result<app::BacktestView>>& result) {
                     if (m_run && m_run->id == id) {
                         if (*result)
                             row(rule)->setBacktest(**result);
                         else
                             row(rule)->setError(safeName(result->error().text));
                     }
                     testNext();
                 });
}

} // namespace deltascope::desktop
