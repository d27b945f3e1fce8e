#include "acts/plan_sheet.h"

#include "acts/plan_body.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace deltascope::desktop {

namespace {

constexpr int Width = 640;
constexpr int TypingMs = 200;
constexpr int LookMs = 250;
constexpr int ProgressSteps = 1000;
constexpr int InsteadHeight = 340; ///< pixels, of what comes in the place of the plan
constexpr int LeastBody = 180; ///< pixels of height
constexpr int BesideBody = 400; ///< what stands above and below it needs no more

/// Lines for a shell, and no sentence.
bool isForShell(const QString& remedy)
{
    return remedy.contains(QLatin1Char('\n')) || remedy.startsWith(QLatin1String("deltascope "));
}

}

PlanSheet::PlanSheet(ServiceBridge& bridge, const QString& run, const QString& title, const QString& actText,
                     QWidget* parent)
    : QDialog(parent)
    , m_bridge(bridge)
    , m_run(run)
    , m_all(new QWidget)
    , m_heading(makeLabel({}, "sheet"))
    , m_options(new QVBoxLayout)
    , m_below(new QWidget)
    , m_waiting(new QWidget)
    , m_phase(makeLabel({}, "muted"))
    , m_progress(new QProgressBar)
    , m_body(new PlanBody)
    , m_scroll(new QScrollArea)
    , m_warnings(makeLabel({}, "body"))
    , m_remedy(new CommandLine)
    , m_command(new CommandLine)
    , m_act(makeButton(actText, {}, "primary"))
{
    setHeading(title);
    setModal(true);
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(Width);
    auto* outer = new QHBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(m_all, 1);
    auto* all = new QVBoxLayout(m_all);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    m_heading->setWordWrap(true);
    all->addWidget(m_heading);
    m_options->setSpacing(10);
    all->addLayout(m_options);
    all->addWidget(m_below, 1);
    auto* below = new QVBoxLayout(m_below);
    below->setContentsMargins(0, 0, 0, 0);
    below->setSpacing(12);
    below->addWidget(makeLine());
    m_progress->setRange(0, ProgressSteps);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the plan"));
    auto* waiting = new QVBoxLayout(m_waiting);
    waiting->setContentsMargins(0, 0, 0, 0);
    waiting->setSpacing(6);
    waiting->addWidget(m_phase);
    waiting->addWidget(m_progress);
    m_waiting->hide();
    below->addWidget(m_waiting);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->setAutoFillBackground(false);
    m_scroll->setWidget(m_body);
    m_body->setAutoFillBackground(false);
    m_scroll->hide();
    below->addWidget(m_scroll, 1);
    m_warnings->setWordWrap(true);
    m_warnings->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_warnings->hide();
    below->addWidget(m_warnings);
    m_remedy->hide();
    below->addWidget(m_remedy);
    below->addStretch();
    m_command->hide();
    below->addWidget(m_command);
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
    below->addLayout(buttons);
    m_later.setSingleShot(true);
    m_later.setInterval(TypingMs);
    connect(&m_later, &QTimer::timeout, this, &PlanSheet::makePlan);
    m_look.setSingleShot(true);
    m_look.setInterval(LookMs);
    connect(&m_look, &QTimer::timeout, this, &PlanSheet::look);
}

void PlanSheet::done(int result)
{
    ++m_generation;
    forgetPlan();
    QDialog::done(result);
}

void PlanSheet::actStarted(const app::TaskView&) { accept(); }

void PlanSheet::setHeading(const QString& title)
{
    setWindowTitle(title);
    m_heading->setText(title);
}

void PlanSheet::putAside(QWidget* side)
{
    auto* outer = static_cast<QHBoxLayout*>(layout());
    m_all->setParent(nullptr);
    outer->addWidget(side);
    outer->addWidget(m_all, 1); // behind it in the order of keys, too
    m_side = side;
    setMinimumWidth(minimumWidth() + side->minimumWidth());
}

void PlanSheet::showInstead(QWidget* widget)
{
    m_all->hide();
    if (m_side) {
        m_side->hide();
        setMinimumWidth(minimumWidth() - m_side->minimumWidth());
        resize(width() - m_side->width(), height());
    }
    layout()->addWidget(widget);
    widget->show();
    widget->setFocus();
    QTimer::singleShot(0, this, [this] { resize(width(), std::max(InsteadHeight, sizeHint().height())); });
}

void PlanSheet::showEvent(QShowEvent* event)
{
    // What stands below the options was made before them: it comes after them in the order of keys, too.
    if (!std::exchange(m_inOrder, true)) {
        m_below->setParent(nullptr);
        static_cast<QVBoxLayout*>(m_all->layout())->addWidget(m_below, 1);
        m_below->show();
    }
    QDialog::showEvent(event);
    makePlan();
}

void PlanSheet::planLater()
{
    ++m_generation;
    forgetPlan();
    m_act->setEnabled(false);
    if (m_wordField) // it was typed for the plan before
        m_wordField->clear();
    m_refusal.clear();
    m_later.start();
}

void PlanSheet::forgetPlan()
{
    m_look.stop();
    if (m_plan && !m_begun)
        m_bridge.dropPlan(m_plan->id);
    m_plan.reset();
}

void PlanSheet::makePlan()
{
    const std::uint64_t generation = ++m_generation;
    forgetPlan();
    if (const QString field = missing(); !field.isEmpty()) {
        hidePlan();
        setRole(m_warnings, "muted");
        m_warnings->setText(tr("Fill in: %1").arg(field));
        return m_warnings->show();
    }
    // The bridge outlives the sheet: a plan that comes behind its end is forgotten, too.
    m_bridge.plan(&m_bridge, m_run, request(),
                  [&bridge = m_bridge, sheet = QPointer(this), generation](const Result<app::PlanView>& plan) {
                      if (sheet && generation == sheet->m_generation)
                          sheet->take(plan);
                      else if (plan)
                          bridge.dropPlan(plan->id);
                  });
}

void PlanSheet::look()
{
    m_bridge.planned(this, m_plan->id, [this, generation = m_generation](const Result<app::PlanView>& plan) {
        if (generation == m_generation)
            take(plan);
    });
}

void PlanSheet::take(const Result<app::PlanView>& plan)
{
    m_plan = plan ? std::optional(*plan) : std::nullopt;
    m_waiting->setVisible(plan && plan->state == "planning");
    m_act->setEnabled(false);
    if (!plan)
        return showProblem(plan.error().text, plan.error().action);
    if (plan->state == "planning")
        return showProgress(*plan);
    if (plan->state == "failed")
        return showProblem(plan->problem ? plan->problem->text : std::string(),
                           plan->problem ? plan->problem->remedy : std::string());
    showReady(*plan);
}

void PlanSheet::showProgress(const app::PlanView& plan)
{
    m_scroll->hide();
    m_remedy->hide();
    m_warnings->setText(m_refusal);
    m_warnings->setVisible(!m_refusal.isEmpty());
    setRole(m_warnings, "error");
    QString text = plan.phase.empty() ? tr("Making the plan…") : tr("Making the plan: %1").arg(safeName(plan.phase));
    if (plan.totalBytes > 0)
        text += tr(", %1 of %2").arg(bytesText(plan.doneBytes), bytesText(plan.totalBytes));
    else if (plan.doneBytes > 0)
        text += QStringLiteral(", ") + bytesText(plan.doneBytes);
    m_phase->setText(text);
    const double share =
        plan.totalBytes > 0 ? static_cast<double>(plan.doneBytes) / static_cast<double>(plan.totalBytes) : 0;
    m_progress->setValue(static_cast<int>(ProgressSteps * std::min(1.0, share)));
    m_command->setCommand(safeName(plan.cli));
    m_command->setVisible(!plan.cli.empty());
    m_look.start();
}

void PlanSheet::hidePlan()
{
    for (QWidget* part : { m_waiting, static_cast<QWidget*>(m_scroll), static_cast<QWidget*>(m_remedy),
                           static_cast<QWidget*>(m_command) })
        part->hide();
    if (m_word)
        m_word->hide();
}

void PlanSheet::showProblem(const std::string& text, const std::string& remedy)
{
    hidePlan();
    const QString lines = safeText(remedy);
    QString said = QStringLiteral("✕ ") + safeName(text);
    if (!lines.isEmpty() && !isForShell(lines))
        said += QLatin1Char('\n') + lines;
    setRole(m_warnings, "error");
    m_warnings->setText(said);
    m_warnings->show();
    m_remedy->setCommand(lines);
    m_remedy->setVisible(isForShell(lines));
}

void PlanSheet::showReady(const app::PlanView& plan)
{
    m_remedy->hide();
    m_body->showPlan(plan);
    m_scroll->show();
    QString warnings = m_refusal;
    setRole(m_warnings, m_refusal.isEmpty() ? "body" : "error");
    for (const std::string& warning : plan.warnings)
        warnings += (warnings.isEmpty() ? QString() : QStringLiteral("\n")) + QStringLiteral("⚑ ") + safeName(warning);
    m_warnings->setText(warnings);
    m_warnings->setVisible(!warnings.isEmpty());
    m_command->setCommand(safeName(plan.cli));
    m_command->show();
    askFor(plan.confirm);
    showWord();
    fitBody();
}

/// As high as what is in it, as far as the screen allows.
void PlanSheet::fitBody()
{
    const QMargins around = m_all->layout()->contentsMargins();
    const int wide =
        std::max(minimumWidth(), width()) - (m_side ? m_side->minimumWidth() : 0) - around.left() - around.right();
    m_body->layout()->activate();
    const int high = m_body->layout()->hasHeightForWidth() ? m_body->layout()->totalHeightForWidth(wide)
                                                           : m_body->layout()->totalSizeHint().height();
    const int most = std::max(LeastBody, screen()->availableGeometry().height() - BesideBody);
    m_scroll->setMinimumHeight(std::min(high, most));
    m_scroll->setMaximumHeight(std::max(high, m_scroll->minimumHeight()));
    QTimer::singleShot(0, this, &PlanSheet::stayOnScreen);
}

/// As high as all that it shows, and in the middle of its window again where it has grown out of the screen.
void PlanSheet::stayOnScreen()
{
    m_below->layout()->activate();
    m_all->layout()->activate();
    layout()->activate();
    if (const int needed = layout()->totalHeightForWidth(width()); height() < needed)
        resize(width(), needed);
    const QRect room = screen()->availableGeometry();
    if (!parentWidget() || room.contains(frameGeometry()))
        return;
    QRect wanted = frameGeometry();
    wanted.moveCenter(parentWidget()->window()->frameGeometry().center());
    wanted.moveTop(std::max(room.top(), std::min(wanted.top(), room.bottom() - wanted.height())));
    move(wanted.topLeft());
}

void PlanSheet::askFor(const std::string& word)
{
    if (!word.empty() && !m_word) {
        m_word = new QWidget;
        m_wordLabel = makeLabel({}, "body");
        m_wordField = new QLineEdit;
        m_wordField->setObjectName(QStringLiteral("confirm"));
        m_wordState = makeLabel(tr("✓ matches"), "ok");
        m_wordLabel->setBuddy(m_wordField);
        auto* field = new QHBoxLayout;
        field->setSpacing(10);
        field->addWidget(m_wordField, 1);
        field->addWidget(m_wordState);
        auto* column = new QVBoxLayout(m_word);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(5);
        column->addWidget(m_wordLabel);
        column->addLayout(field);
        auto* below = static_cast<QVBoxLayout*>(m_below->layout());
        below->insertWidget(below->indexOf(m_command), m_word);
        setTabOrder(m_remedy->copyButton(), m_wordField);
        connect(m_wordField, &QLineEdit::textChanged, this, &PlanSheet::showWord);
        m_word->show();
        if (!qobject_cast<QLineEdit*>(focusWidget()))
            m_wordField->setFocus();
    }
    if (!m_word)
        return;
    m_word->setVisible(!word.empty());
    m_wordLabel->setText(tr("Type %1 to confirm").arg(safeName(word)));
    m_wordField->setAccessibleName(m_wordLabel->text());
}

bool PlanSheet::wordFits() const
{
    return !m_plan || m_plan->confirm.empty()
        || (m_wordField && m_wordField->text().trimmed() == safeName(m_plan->confirm));
}

void PlanSheet::showWord()
{
    const bool ready = m_plan && m_plan->state == "ready" && !m_begun;
    m_act->setEnabled(ready && wordFits());
    if (m_wordState)
        m_wordState->setVisible(wordFits());
}

void PlanSheet::act()
{
    if (!m_plan || m_plan->state != "ready" || m_begun || !wordFits())
        return;
    m_begun = true;
    m_act->setEnabled(false);
    m_bridge.start(this, *m_plan, [this](const Result<app::TaskView>& task) {
        if (task) {
            emit started(*task);
            return actStarted(*task);
        }
        m_begun = false;
        const QString action = safeText(task.error().action);
        m_refusal = QStringLiteral("✕ ") + safeName(task.error().text)
            + (action.isEmpty() ? QString() : QStringLiteral("\n") + action);
        makePlan(); // the run changed since, or this needs a right: look at the plan again
    });
}

} // namespace deltascope::desktop
