#include "pages/alerts/rule_row.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/alerts/alert_model.h"
#include "widgets/cards.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QPushButton>

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostLinks = 6;
constexpr double MostThreshold = 1e9;
constexpr double NoThreshold = 0;

/// Shows as many digits as there are.
class ThresholdBox final : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override { return QString::number(value, 'g', 10); }
};

}

RuleRow::RuleRow(const app::AlertRuleView& rule, QWidget* parent)
    : QFrame(parent)
    , m_on(new QCheckBox)
    , m_threshold(new ThresholdBox)
    , m_unit(makeLabel({}, "label"))
    , m_what(makeLabel({}, "muted"))
    , m_level(makeLabel({}, "label"))
    , m_test(makeButton(tr("Back-test"), {}, "small"))
    , m_result(makeLabel({}, "label"))
    , m_steps(new QWidget)
{
    const QString id = QString::fromStdString(rule.id);
    m_on->setText(id);
    QFont bold = typeFont(Type::Body);
    bold.setWeight(QFont::DemiBold);
    m_on->setFont(bold);
    m_on->setToolTip(tr("Switches the rule on or off"));
    m_threshold->setAccessibleName(tr("Threshold of %1").arg(id));
    m_threshold->setKeyboardTracking(false);
    m_threshold->setDecimals(4);
    m_threshold->setRange(NoThreshold, MostThreshold);
    m_threshold->setSpecialValueText(unknownText());
    m_threshold->setAlignment(Qt::AlignRight);
    m_threshold->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_threshold->setFixedWidth(68);
    m_threshold->setFocusPolicy(Qt::StrongFocus); // the wheel scrolls the list
    m_test->setAccessibleName(tr("Back-test %1").arg(id));
    m_test->setToolTip(tr("When it would have fired in this run"));
    m_what->setFont(typeFont(Type::Table));
    m_what->setWordWrap(true);
    m_result->setWordWrap(true);
    connect(m_on, &QCheckBox::toggled, this, &RuleRow::tell);
    connect(m_threshold, &QDoubleSpinBox::valueChanged, this, &RuleRow::tell);
    connect(m_test, &QPushButton::clicked, this, [this] { emit backtestWanted(m_rule.id); });

    auto* top = new QHBoxLayout;
    top->setSpacing(8);
    top->addWidget(m_on);
    top->addWidget(m_level);
    top->addStretch(1);
    top->addWidget(m_threshold);
    top->addWidget(m_unit);
    top->addWidget(m_test);
    auto* links = new QHBoxLayout(m_steps);
    links->setContentsMargins(0, 0, 0, 0);
    links->setSpacing(4);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(12, 6, 12, 8);
    all->setSpacing(2);
    all->addLayout(top);
    all->addWidget(m_what);
    all->addWidget(m_result);
    all->addWidget(m_steps);
    clearBacktest();
    setRule(rule);
}

void RuleRow::setRule(const app::AlertRuleView& rule)
{
    m_rule = rule;
    const QSignalBlocker quietBox(m_on);
    const QSignalBlocker quietSpin(m_threshold);
    m_on->setChecked(rule.on);
    m_level->setText(alertLevelText(rule.level));
    m_what->setText(safeName(rule.what));
    m_threshold->setVisible(!rule.unit.empty());
    m_threshold->setEnabled(rule.on);
    m_unit->setVisible(!rule.unit.empty());
    m_unit->setText(QString::fromStdString(rule.unit));
    m_threshold->setValue(rule.threshold.value_or(NoThreshold));
    m_test->setEnabled(rule.on);
}

void RuleRow::tell()
{
    const double value = m_threshold->value();
    const bool has = !m_rule.unit.empty() && value > NoThreshold;
    emit changed(m_rule.id, m_on->isChecked(), has ? std::optional(value) : std::nullopt);
}

void RuleRow::setTesting()
{
    clearBacktest();
    m_result->setText(tr("Testing on this run…"));
    m_result->show();
    m_test->setEnabled(false);
}

void RuleRow::setBacktest(const app::BacktestView& view)
{
    clearBacktest();
    m_test->setEnabled(m_rule.on);
    m_result->setText(view.fired.empty() ? tr("would not have fired in this run")
                                         : tr("would have fired %1× in this run").arg(view.fired.size()));
    m_result->show();
    auto* row = static_cast<QHBoxLayout*>(m_steps->layout());
    std::size_t shown = 0;
    for (const app::BacktestHitView& hit : view.fired) {
        if (!hit.step || shown == MostLinks)
            continue;
        ++shown;
        QPushButton* link = makeButton(tr("step %1").arg(*hit.step));
        link->setFont(typeFont(Type::Label));
        setRole(link, "link");
        link->setToolTip(QStringLiteral("%1\n%2").arg(fullTimeText(hit.tUs), safeName(hit.text)));
        connect(link, &QPushButton::clicked, this, [this, step = *hit.step] { emit stepWanted(step); });
        row->addWidget(link);
    }
    if (view.fired.size() > shown && shown > 0)
        row->addWidget(makeLabel(tr("and %1 more").arg(view.fired.size() - shown), "label"));
    row->addStretch(1);
    m_steps->setVisible(shown > 0);
}

void RuleRow::clearBacktest()
{
    setRole(m_result, "label");
    m_result->clear();
    m_result->hide();
    m_test->setEnabled(m_rule.on);
    while (QLayoutItem* item = m_steps->layout()->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_steps->hide();
}

void RuleRow::setError(const QString& text)
{
    clearBacktest();
    setRole(m_result, "error");
    m_result->setText(QStringLiteral("✕ ") + text);
    m_result->show();
}

void RuleRow::edit()
{
    if (m_rule.unit.empty() || !m_rule.on)
        return m_on->setFocus(Qt::ShortcutFocusReason);
    m_threshold->setFocus(Qt::ShortcutFocusReason);
    m_threshold->selectAll();
}

QString RuleRow::resultText() const { return m_result->text(); }

} // namespace deltascope::desktop
