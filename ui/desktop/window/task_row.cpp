#include "window/task_row.h"

#include "acts/act_words.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "look/marks.h"
#include "widgets/cards.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QUrl>

#include <cmath>
#include <utility>

namespace deltascope::desktop {

namespace {

constexpr int Height = 40;
constexpr int BarSteps = 1000;

/// How fast it went on the whole, behind its bytes and its time: ", 1.2 GB/s". Empty: it took no time.
QString meanText(std::uint64_t bytes, double seconds)
{
    return seconds > 0 ? QStringLiteral(", ") + rateText(static_cast<double>(bytes) / seconds) : QString();
}

/// The gravest problem that a verification found in the run or its steps; null: notices at most.
const app::ProblemView* gravestIn(const app::VerifyView& view)
{
    const app::ProblemView* found = app::gravest(view.problems);
    for (auto step = view.steps.begin(); (!found || isNotice(*found)) && step != view.steps.end(); ++step)
        found = app::gravest(step->problems);
    return found && !isNotice(*found) ? found : nullptr;
}

/// A line for each thing to know about the bytes that a result was made from, behind its other text.
QString readsText(const app::ReadsView& reads)
{
    QString text;
    for (const QString& line : readsLines(reads))
        text += QLatin1Char('\n') + line;
    return text;
}

/// Likewise for what sets the sides of a comparison apart as a whole.
QString formsText(const app::DiffView& diff)
{
    QString text;
    for (const app::FormDifferenceView& form : diff.forms)
        text += QStringLiteral("\n⚠ ") + safeName(form.text);
    if (!diff.adapters.empty())
        text += QStringLiteral("\n⚠ ") + safeName(diff.adapters);
    if (!diff.settings.empty())
        text += QLatin1Char('\n') + safeName(app::settingsText(diff));
    return text;
}

}

TaskRow::TaskRow(ServiceBridge& bridge, QWidget* parent)
    : QFrame(parent)
    , m_bridge(bridge)
    , m_icon(new QLabel)
    , m_title(makeLabel({}, "body"))
    , m_phase(makeLabel({}, "muted"))
    , m_bar(new QProgressBar)
    , m_numbers(makeLabel({}, "body"))
    , m_pause(makeButton(tr("Pause"), {}, "small"))
    , m_resume(makeButton(tr("Resume"), {}, "small"))
    , m_cancel(makeButton(tr("Cancel"), {}, "small"))
    , m_discard(makeButton(tr("Delete partial…"), {}, "small"))
    , m_again(makeButton(tr("New plan…"), {}, "small"))
    , m_accept(makeButton(tr("Accept rewritten…"), {}, "small"))
    , m_undo(makeButton(tr("Undo…"), {}, "small"))
    , m_open(makeButton(tr("Open folder"), {}, "small"))
    , m_copy(makeButton(tr("Copy path"), {}, "small"))
{
    setMinimumHeight(Height);
    m_undo->hide();
    m_title->setMinimumWidth(260);
    m_phase->setMinimumWidth(180);
    m_bar->setRange(0, BarSteps);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(220);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 4, 16, 4);
    row->setSpacing(12);
    row->addWidget(m_icon);
    row->addWidget(m_title);
    row->addWidget(m_phase);
    row->addWidget(m_bar);
    row->addWidget(m_numbers, 1);
    for (QPushButton* button : { m_undo, m_open, m_copy, m_pause, m_resume, m_again, m_accept, m_discard, m_cancel })
        row->addWidget(button);
    connect(m_pause, &QPushButton::clicked, this, [this] { act(&app::Monitor::pause); });
    connect(m_resume, &QPushButton::clicked, this, [this] { act(&app::Monitor::resume); });
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        m_canceledHere = true;
        act(&app::Monitor::cancel);
    });
    connect(m_discard, &QPushButton::clicked, this, &TaskRow::discardWanted);
    connect(m_again, &QPushButton::clicked, this, &TaskRow::planWanted);
    connect(m_accept, &QPushButton::clicked, this, &TaskRow::acceptWanted);
    connect(m_undo, &QPushButton::clicked, this, &TaskRow::undoWanted);
    connect(m_open, &QPushButton::clicked, this, &TaskRow::openFolder);
    connect(m_copy, &QPushButton::clicked, this,
            [this] { QApplication::clipboard()->setText(QString::fromStdString(m_task.plan.destination)); });
}

void TaskRow::act(ServiceBridge::Steer how)
{
    m_bridge.steer(this, m_task.id, how, [this](const Result<app::TaskView>& now) {
        if (now) // what it has become, the bridge tells
            return;
        m_numbers->setText(QStringLiteral("✕ ") + safeName(now.error().text));
        setRole(m_numbers, "error");
    });
}

bool TaskRow::canBeUndone() const
{
    return m_task.state == "done" && !m_task.plan.undo.empty() && !m_task.plan.run.empty();
}

void TaskRow::offerUndo(bool offered) { m_undo->setVisible(offered); }

/// Canceling acts at once; what becomes of the bytes that were written is asked afterwards.
void TaskRow::askForPartial()
{
    auto* box = new QMessageBox(QMessageBox::Question, tr("Canceled"), tr("Keep what was written?"),
                                QMessageBox::NoButton, this);
    box->setInformativeText(tr("%1\n\n%2 lie beside the destination. A resume goes on from there.")
                                .arg(safeName(m_task.plan.title), bytesText(m_task.doneBytes)));
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* keep = box->addButton(tr("Keep partial"), QMessageBox::RejectRole);
    QPushButton* remove = box->addButton(tr("Delete partial…"), QMessageBox::DestructiveRole);
    box->setDefaultButton(keep);
    box->setEscapeButton(keep);
    connect(remove, &QPushButton::clicked, this, &TaskRow::discardWanted);
    box->open();
}

void TaskRow::openFolder()
{
    QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(m_task.plan.destination)));
}

void TaskRow::showTask(const app::TaskView& task)
{
    const double before = m_task.id == task.id && m_task.totalBytes > 0
        ? static_cast<double>(m_task.doneBytes) / static_cast<double>(m_task.totalBytes)
        : 0;
    const bool samePhase = m_task.phase == task.phase;
    m_task = task;
    const bool over = isOver(task);
    const bool failed = task.state == "failed";
    const bool writes = !task.plan.destination.empty();
    m_icon->setPixmap(
        icon(actIcon(task.plan.kind), failed ? Token::Error : Token::Text).pixmap(QSize(16, 16), devicePixelRatioF()));
    m_title->setText(shortened(safeName(task.plan.title), 60));
    m_title->setToolTip(safeName(task.plan.cli));
    m_phase->setText(task.interrupted                 ? tr("paused: the program ended")
                         : over || task.phase.empty() ? QString::fromStdString(task.state)
                                                      : safeName(task.phase));
    const double share =
        task.totalBytes > 0 ? static_cast<double>(task.doneBytes) / static_cast<double>(task.totalBytes) : 0;
    m_bar->setVisible(!over);
    m_bar->setValue(static_cast<int>(BarSteps * std::min(1.0, samePhase ? std::max(before, share) : share)));
    m_bar->setAccessibleName(m_title->text());
    const QString numbers = over ? resultText() + backendText() : progressText();
    m_numbers->setText(task.notKept ? notKeptText() + QStringLiteral("   ") + numbers : numbers);
    m_numbers->setToolTip(m_numbers->text());
    setRole(m_numbers, failed ? "error" : "body");
    m_pause->setVisible(task.state == "running" || task.state == "queued");
    m_resume->setVisible(task.state == "paused" || (over && task.resumable));
    m_resume->setText(failed ? tr("Try again") : tr("Resume"));
    m_cancel->setVisible(!over && task.state != "canceling");
    const bool local = m_bridge.server().isEmpty();
    const bool stopped = task.interrupted || (task.state == "canceled" && task.resumable);
    const bool partial = writes && stopped && task.plan.kind == "materialize" && !task.plan.run.empty();
    m_discard->setVisible(partial);
    m_again->setVisible(over && task.state != "done" && !task.resumable && local && !task.plan.run.empty());
    m_accept->setVisible(app::mayAcceptRewritten(task) && actHasField(task.plan.kind, "accept_rewritten") && local
                         && !task.plan.run.empty());
    m_accept->setToolTip(QString::fromStdString(app::acceptRewrittenText(task.plan.kind)));
    m_open->setVisible(task.state == "done" && writes && local);
    m_copy->setVisible(task.state == "done" && writes);
    if (over && std::exchange(m_canceledHere, false) && partial && task.doneBytes > 0)
        askForPartial();
}

QString TaskRow::progressText() const
{
    QString text;
    if (m_task.totalBytes > 0) {
        const double share = static_cast<double>(m_task.doneBytes) / static_cast<double>(m_task.totalBytes);
        text = tr("%1 %   %2 of %3")
                   .arg(static_cast<int>(100 * std::min(1.0, share)))
                   .arg(bytesText(m_task.doneBytes), bytesText(m_task.totalBytes));
    }
    if (m_task.state != "running")
        return text;
    if (m_task.bytesPerSecond > 0)
        text += QStringLiteral("   ") + rateText(m_task.bytesPerSecond);
    if (m_task.secondsLeft && m_task.seconds >= 2) {
        if (m_shownLeft < 0 || std::abs(*m_task.secondsLeft - m_shownLeft) > 0.1 * m_shownLeft)
            m_shownLeft = *m_task.secondsLeft;
        text +=
            QStringLiteral("   ") + (m_shownLeft < 1 ? tr("finishing") : tr("about %1 left").arg(ageText(m_shownLeft)));
    }
    return text;
}

QString TaskRow::notKeptText() const
{
    return QStringLiteral("▲ %1. %2").arg(safeName(m_task.notKept->text), safeName(m_task.notKept->remedy));
}

QString TaskRow::backendText() const
{
    QString text;
    if (!m_task.backend.empty())
        text += QStringLiteral("\n") + tr("engine %1").arg(desktop::backendText(m_task.backend));
    if (m_task.deviceBytes)
        text += (text.isEmpty() ? QStringLiteral("\n") : QStringLiteral(", "))
            + (m_task.batchBytes ? tr("%1 of %2 in batches on the device")
                                       .arg(bytesText(*m_task.deviceBytes), bytesText(*m_task.batchBytes))
                                 : tr("%1 on the device").arg(bytesText(*m_task.deviceBytes)));
    if (m_task.doneBytes > 0 && m_task.seconds > 0)
        text += (text.isEmpty() ? QStringLiteral("\n") : QStringLiteral(", "))
            + tr("%1 on average").arg(rateText(static_cast<double>(m_task.doneBytes) / m_task.seconds));
    for (const app::ProblemView& notice : m_task.backendNotices)
        text += QStringLiteral("\n") + problemLine(notice);
    return text;
}

QString TaskRow::resultText() const
{
    if (m_task.problem) {
        const QString text =
            QStringLiteral("✕ %1 %2").arg(QString::fromStdString(m_task.problem->code), safeName(m_task.problem->text));
        return m_task.problem->remedy.empty() ? text : text + QStringLiteral(". ") + safeName(m_task.problem->remedy);
    }
    if (m_task.state == "canceled")
        return m_task.resumable ? tr("what was written is kept for a resume") : tr("nothing is left behind");
    if (!m_task.result)
        return {};
    if (const auto* made = std::get_if<std::shared_ptr<const app::MaterializeView>>(&*m_task.result)) {
        const app::MaterializeView& view = **made;
        QString text = tr("%1 in %2%3, %4")
                           .arg(bytesText(view.bytes), durationText(view.seconds),
                                meanText(view.bytes - view.resumedBytes, view.seconds),
                                pluralText(view.tensors, tr("tensor"), tr("tensors")));
        if (view.lossy)
            text += tr(", rounded differences on the way: never verified");
        else if (app::mayLackDelta(view))
            text += tr(", unproven: a delta on the way may be lost");
        else if (view.coverage.tensors > 0)
            text += QStringLiteral(", ") + QString::fromStdString(app::coverageText(view.coverage));
        if (view.statesDiffer > 0)
            text += tr(", the %1 state").arg(safeName(view.state));
        QStringList leftOut;
        for (const std::string& name : view.leftOut)
            leftOut << safeName(name);
        if (!leftOut.isEmpty())
            text += tr("\nNot copied, the trainer's own: %1").arg(leftOut.join(QStringLiteral(", ")));
        return text + readsText(view.reads);
    }
    if (const auto* verified = std::get_if<std::shared_ptr<const app::VerifyView>>(&*m_task.result)) {
        QString text = tr("%1, level %2, %3 in %4")
                           .arg(verdictText((*verified)->result, gravestIn(**verified)), levelText((*verified)->level),
                                pluralText((*verified)->steps.size(), tr("step"), tr("steps")),
                                durationText((*verified)->seconds));
        if (const std::vector<std::string>& accepted = (*verified)->rewritten; !accepted.empty())
            text += tr("\n%1, first %2: rewritten since first seen, and accepted")
                        .arg(pluralText(accepted.size(), tr("object"), tr("objects")), safeName(accepted.front()));
        if (const std::string base = app::baseAloneText(**verified); !base.empty())
            text += QStringLiteral("\n") + QString::fromStdString(base);
        if (const auto& digests = (*verified)->storeDigests)
            text += QStringLiteral("\n") + QString::fromStdString(app::storeDigestsText(*digests));
        return text;
    }
    if (const auto* diff = std::get_if<std::shared_ptr<const app::DiffView>>(&*m_task.result)) {
        const app::DiffView& view = **diff;
        const QString work = tr("%1 compared in %2%3")
                                 .arg(bytesText(view.bytesCompared), durationText(view.seconds),
                                      meanText(view.bytesCompared, view.seconds));
        if (view.equal)
            return tr("bit-identical, %1").arg(work) + formsText(view) + readsText(view.reads);
        const std::string nothing = app::nothingComparedText(view);
        return (!nothing.empty() ? QString::fromStdString(nothing)
                                 : (view.tensorsDifferent == 1 ? tr("%1 of %2 differs, %3 of %4 elements, %5")
                                                               : tr("%1 of %2 differ, %3 of %4 elements, %5"))
                                       .arg(exactText(view.tensorsDifferent),
                                            pluralText(view.tensorsTotal, tr("tensor"), tr("tensors")),
                                            countText(view.elementsDifferent), countText(view.elementsTotal), work))
            + formsText(view) + readsText(view.reads);
    }
    if (const auto* back = std::get_if<std::shared_ptr<const app::RollBackView>>(&*m_task.result)) {
        const app::RollBackView& view = **back;
        return view.wasThere ? tr("step %1 restored step %2 already: nothing was written").arg(view.step).arg(view.to)
                             : tr("step %1 restores step %2").arg(view.step).arg(view.to);
    }
    if (const auto* branch = std::get_if<std::shared_ptr<const app::BranchView>>(&*m_task.result))
        return ((*branch)->wasThere ? tr("%1 begins with the state of step %2 already: nothing was written")
                                    : tr("%1 begins with the state of step %2"))
            .arg(safeName((*branch)->into))
            .arg((*branch)->from);
    if (const auto* discarded = std::get_if<std::shared_ptr<const app::DiscardView>>(&*m_task.result)) {
        QString text;
        for (const app::DiscardedView& one : (*discarded)->leftovers)
            text += (text.isEmpty() ? QString() : QStringLiteral("\n"))
                + (one.removed ? tr("%1 removed: %2").arg(bytesText(one.bytes), safeName(one.path))
                               : tr("▲ %1 stays: %2").arg(safeName(one.path), safeName(one.problem->text)));
        return text.isEmpty() ? tr("there was nothing to discard") : text;
    }
    if (const auto* annotated = std::get_if<std::shared_ptr<const app::AnnotatedView>>(&*m_task.result))
        return safeName((*annotated)->text) + ((*annotated)->isLocal ? tr(", on this machine alone") : QString());
    return {};
}

} // namespace deltascope::desktop
