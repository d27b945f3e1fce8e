#include "pages/diff/diff_offer.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/diff/diff_task.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int Width = 760;
constexpr int ProgressSteps = 1000;

}

DiffOffer::DiffOffer(DiffTask& task, QWidget* parent)
    : QWidget(parent)
    , m_task(task)
    , m_title(makeLabel({}, "section"))
    , m_text(makeLabel({}, "muted"))
    , m_progress(new QProgressBar)
    , m_start(makeButton({}, {}, "primary"))
    , m_cancel(makeButton(tr("Cancel")))
    , m_again(makeButton(tr("Try again")))
    , m_command(new CommandLine)
{
    m_text->setWordWrap(true);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Compared"));
    auto* column = new QWidget;
    column->setMaximumWidth(Width);
    auto* all = new QVBoxLayout(column);
    all->setContentsMargins(16, 16, 16, 16);
    all->setSpacing(12);
    all->addWidget(m_title);
    all->addWidget(m_text);
    all->addWidget(m_progress);
    auto* acts = new QHBoxLayout;
    acts->addWidget(m_start);
    acts->addWidget(m_again);
    acts->addWidget(m_cancel);
    acts->addStretch(1);
    all->addLayout(acts);
    all->addWidget(m_command);
    auto* across = new QHBoxLayout;
    across->addStretch(1);
    across->addWidget(column, 100);
    across->addStretch(1);
    auto* around = new QVBoxLayout(this);
    around->addStretch(2);
    around->addLayout(across);
    around->addStretch(3);
    connect(m_start, &QPushButton::clicked, this, &DiffOffer::startWanted);
    connect(m_again, &QPushButton::clicked, &task, &DiffTask::planAgain);
    connect(m_cancel, &QPushButton::clicked, &task, &DiffTask::cancel);
    connect(&task, &DiffTask::changed, this, &DiffOffer::show);
    show();
}

QString DiffOffer::text() const { return m_title->text() + QLatin1Char('\n') + m_text->text(); }

void DiffOffer::show()
{
    using State = DiffTask::State;
    const State state = m_task.state();
    const auto& pair = m_task.pair();
    m_progress->setVisible(state == State::Running);
    m_cancel->setVisible(state == State::Running);
    m_start->setVisible(state == State::Ready);
    m_again->setVisible(state == State::Failed);
    m_command->setVisible(m_task.plan().has_value());
    setRole(m_text, state == State::Failed ? "error" : "muted");
    if (!pair)
        return;
    const QString pairText = tr("%1 and %2").arg(pair->a.step).arg(pair->b.step);
    m_start->setText(tr("Compare %1").arg(pairText));
    if (m_task.plan())
        m_command->setCommand(safeName(m_task.plan()->cli));
    if (state == State::Running)
        return showProgress();
    if (state == State::Failed) {
        const app::ProblemView& problem = *m_task.problem();
        m_title->setText(tr("%1 cannot be compared").arg(pairText));
        QString text = QStringLiteral("✕ %1 %2").arg(safeName(problem.code), safeName(problem.text));
        if (!problem.where.empty())
            text += QStringLiteral("  (%1)").arg(safeName(problem.where));
        if (!problem.remedy.empty())
            text += QLatin1Char('\n') + safeName(problem.remedy);
        m_text->setText(text);
        return;
    }
    m_title->setText(tr("Compare %1 bit by bit").arg(pairText));
    if (!m_task.plan()) {
        m_text->setText(tr("Looking at what that takes…"));
        return;
    }
    const app::PlanView& plan = *m_task.plan();
    QString text = tr("Both steps are rebuilt and compared element by element. This reads %1 and writes nothing.")
                       .arg(bytesText(plan.readBytes));
    for (const std::string& warning : plan.warnings)
        text += QStringLiteral("\n⚑ ") + safeName(warning);
    m_text->setText(text);
}

void DiffOffer::showProgress()
{
    const app::TaskView& task = *m_task.task();
    const QString phase = task.state == "running" ? safeName(task.phase) : safeName(task.state);
    m_title->setText(tr("Comparing %1 and %2").arg(m_task.pair()->a.step).arg(m_task.pair()->b.step));
    const bool known = task.totalBytes > 0;
    m_progress->setRange(0, known ? ProgressSteps : 0);
    if (known)
        m_progress->setValue(static_cast<int>(static_cast<double>(task.doneBytes) / static_cast<double>(task.totalBytes)
                                              * ProgressSteps));
    QString text = QStringLiteral("%1, %2").arg(phase, durationText(task.seconds));
    text += QStringLiteral(", ")
        + (known ? tr("%1 of %2").arg(bytesText(task.doneBytes), bytesText(task.totalBytes))
                 : bytesText(task.doneBytes));
    if (task.bytesPerSecond > 0)
        text += QStringLiteral(", ") + rateText(task.bytesPerSecond);
    if (task.secondsLeft)
        text += QStringLiteral(", ") + tr("%1 left").arg(durationText(task.secondsLeft));
    m_text->setText(text + tr(". It goes on if you leave this page."));
}

} // namespace deltascope::desktop
