#include "acts/plan_sheet.h"

#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int Width = 640;
constexpr int TypingMs = 200;

QString errorText(const Error& error)
{
    QString text = QStringLiteral("✕ %1").arg(safeName(error.text));
    if (!error.action.empty())
        text += QStringLiteral("\n") + safeName(error.action);
    return text;
}

}

PlanSheet::PlanSheet(ServiceBridge& bridge, const QString& run, const QString& title, const QString& actText,
                     QWidget* parent)
    : QDialog(parent)
    , m_bridge(bridge)
    , m_run(run)
    , m_options(new QVBoxLayout)
    , m_steps(makeLabel({}, "muted"))
    , m_room(makeLabel({}, "body"))
    , m_warnings(makeLabel({}, "body"))
    , m_command(new CommandLine)
    , m_act(makeButton(actText, {}, "primary"))
{
    setWindowTitle(title);
    setModal(true);
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(Width);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    all->addWidget(makeLabel(title, "sheet"));
    m_options->setSpacing(10);
    all->addLayout(m_options);
    all->addWidget(makeLine());
    for (QLabel* label : { m_steps, m_room, m_warnings }) {
        label->setWordWrap(true);
        all->addWidget(label);
    }
    all->addStretch(1);
    all->addWidget(m_command);
    auto* buttons = new QHBoxLayout;
    QPushButton* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_act, &QPushButton::clicked, this, &PlanSheet::act);
    m_act->setObjectName(QStringLiteral("act"));
    m_act->setDefault(true);
    m_act->setEnabled(false);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_act);
    all->addLayout(buttons);
    m_below = { m_command->copyButton(), cancel, m_act };
    m_later.setSingleShot(true);
    m_later.setInterval(TypingMs);
    connect(&m_later, &QTimer::timeout, this, &PlanSheet::makePlan);
}

void PlanSheet::showEvent(QShowEvent* event)
{
    // What stands below the options was made before them: it comes after them in the order of keys, too.
    QWidget* before = previousInFocusChain();
    while (before->focusPolicy() == Qt::NoFocus)
        before = before->previousInFocusChain();
    if (before != m_act) {
        for (QWidget* below : m_below) {
            setTabOrder(before, below);
            before = below;
        }
    }
    QDialog::showEvent(event);
    makePlan();
}

void PlanSheet::planLater()
{
    m_plan.reset();
    m_act->setEnabled(false);
    m_refusal.clear();
    ++m_generation;
    m_later.start();
}

void PlanSheet::makePlan()
{
    const std::uint64_t generation = ++m_generation;
    m_bridge.plan(this, m_run, request(), [this, generation](const Result<app::PlanView>& plan) {
        if (generation == m_generation)
            showPlan(plan);
    });
}

void PlanSheet::showPlan(const Result<app::PlanView>& plan)
{
    m_act->setEnabled(plan.has_value());
    m_command->setVisible(plan.has_value());
    m_room->setVisible(plan && !plan->destination.empty());
    if (!plan) {
        m_plan.reset();
        setRole(m_warnings, "error");
        m_steps->setText({});
        m_warnings->setText(errorText(plan.error()));
        m_warnings->show();
        return;
    }
    m_plan = *plan;
    QString steps;
    int number = 0;
    for (const app::PlanStepView& step : plan->steps) {
        steps += QStringLiteral("%1%2. %3")
                     .arg(steps.isEmpty() ? QString() : QStringLiteral("\n"))
                     .arg(++number)
                     .arg(safeName(step.text));
        if (step.bytes > 0)
            steps += QStringLiteral(" (%1)").arg(bytesText(step.bytes));
    }
    m_steps->setText(steps);
    if (plan->freeBytes)
        m_room->setText(tr("Needs %1, free %2").arg(bytesText(plan->writeBytes), bytesText(plan->freeBytes)));
    QString warnings = m_refusal;
    setRole(m_warnings, m_refusal.isEmpty() ? "body" : "error");
    for (const std::string& warning : plan->warnings)
        warnings += (warnings.isEmpty() ? QString() : QStringLiteral("\n")) + QStringLiteral("⚑ ") + safeName(warning);
    m_warnings->setText(warnings);
    m_warnings->setVisible(!warnings.isEmpty());
    m_command->setCommand(safeName(plan->cli));
}

void PlanSheet::act()
{
    if (!m_plan)
        return;
    m_act->setEnabled(false);
    m_bridge.start(this, *m_plan, [this](const Result<app::TaskView>& task) {
        if (task) {
            actStarted();
            emit started(*task);
            return accept();
        }
        m_refusal = errorText(task.error()); // the run changed since, or this needs a right: look at the plan again
        makePlan();
    });
}

} // namespace deltascope::desktop
