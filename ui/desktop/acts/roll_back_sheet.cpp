#include "acts/roll_back_sheet.h"

#include "acts/roll_back_outcome.h"
#include "look/format.h"
#include "look/look.h"
#include "look/marks.h"
#include "widgets/cards.h"
#include "widgets/text_table.h"

#include <QTimer>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int StepsWidth = 320; ///< pixels, of the list
constexpr int PlanWidth = 680;

QString headingOf(const RunPointer& run, StepId step)
{
    return RollBackSheet::tr("Roll back %1 to step %2").arg(safeName(run->name)).arg(step.step);
}

app::ActRequest requestFor(StepId step) { return { "rollback", { { "step", step.address().toStdString() } } }; }

QString wordsOf(const app::StepView& step)
{
    QStringList words;
    for (const std::string& word : step.refs)
        words << safeName(word);
    return words.join(QStringLiteral(", "));
}

TextRow rowOf(const app::StepView& step, const std::optional<app::VerifiedView>& verified)
{
    const QString verdict = verified ? verdictText(*verified) : RollBackSheet::tr("not checked");
    TextRow row;
    row.cells = { QString::number(step.step), wordsOf(step),
                  step.publishedUs == 0 ? unknownText() : ageText(secondsOf(ServiceBridge::nowUs() - step.publishedUs)),
                  verified ? evidenceText(verified->result) : RollBackSheet::tr("not checked") };
    row.tip = RollBackSheet::tr("Step %1, epoch %2: %3").arg(step.step).arg(step.epoch).arg(verdict);
    row.bad = verified && !isSound(verified->result) && verified->result != "unverified";
    row.subject = QVariant::fromValue(StepId { step.epoch, step.step });
    return row;
}

/// Steps that can be rebuilt, the newest first.
std::vector<const app::StepView*> stepsOf(const app::RunView& run)
{
    std::vector<const app::StepView*> steps;
    for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
        for (auto step = epoch->steps.rbegin(); step != epoch->steps.rend(); ++step) {
            if (step->restorable)
                steps.push_back(&*step);
        }
    }
    return steps;
}

}

RollBackSheet::RollBackSheet(ServiceBridge& bridge, const RunPointer& run, const QString& title, const QString& actText,
                             app::ActRequest request, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(run->id), title, actText, parent)
    , m_of(run)
    , m_request(std::move(request))
{
    QLabel* what =
        makeLabel(tr("The earlier state is published as a new step behind the newest one. Every step that is "
                     "there stays as it is, and can be gone back to in the same way."),
                  "muted");
    what->setWordWrap(true);
    options()->addWidget(what);
    setMinimumWidth(PlanWidth);
}

RollBackSheet* RollBackSheet::to(StepId step, ServiceBridge& bridge, const RunPointer& run, QWidget* parent)
{
    auto* sheet = new RollBackSheet(bridge, run, headingOf(run, step), tr("Roll back now"), requestFor(step), parent);
    sheet->putAside(sheet->makeSteps(step));
    return sheet;
}

RollBackSheet* RollBackSheet::undo(ServiceBridge& bridge, const RunPointer& run, QWidget* parent)
{
    return new RollBackSheet(bridge, run, tr("Undo the roll back of %1").arg(safeName(run->name)), tr("Undo now"),
                             { "undo", {} }, parent);
}

QWidget* RollBackSheet::makeSteps(StepId chosen)
{
    auto* steps =
        new TextTable(tr("Steps to go back to"),
                      { { tr("step"), true }, { tr("word"), false, true }, { tr("age"), true }, { tr("evidence") } });
    std::vector<TextRow> rows;
    int at = -1;
    for (const app::StepView* step : stepsOf(*m_of->run)) {
        if (StepId { step->epoch, step->step } == chosen)
            at = static_cast<int>(rows.size());
        rows.push_back(rowOf(*step, app::verifiedOf(m_of->verified, *step)));
    }
    steps->setRows(std::move(rows));
    steps->selectRow(at);
    connect(
        steps->selectionModel(), &QItemSelectionModel::selectionChanged, this,
        [this, steps](const QItemSelection& now) {
            if (!now.isEmpty())
                choose(steps->rows().at(static_cast<std::size_t>(now.indexes().front().row())).subject.value<StepId>());
        });
    QTimer::singleShot(0, steps,
                       [steps] { steps->scrollTo(steps->currentIndex(), QAbstractItemView::PositionAtCenter); });
    auto* frame = new QFrame;
    setRole(frame, "card");
    auto* inside = new QVBoxLayout(frame);
    inside->setContentsMargins(1, 1, 1, 1);
    inside->addWidget(steps);
    auto* side = new QWidget;
    side->setFixedWidth(StepsWidth);
    auto* all = new QVBoxLayout(side);
    all->setContentsMargins(20, 22, 0, 16);
    all->setSpacing(8);
    all->addWidget(makeLabel(tr("Steps that can be rebuilt"), "muted"));
    all->addWidget(frame, 1);
    return side;
}

void RollBackSheet::choose(StepId step)
{
    m_request = requestFor(step);
    setHeading(headingOf(m_of, step));
    planLater();
}

void RollBackSheet::actStarted(const app::TaskView& task)
{
    auto* outcome = new RollBackOutcome(bridge(), task);
    connect(outcome, &RollBackOutcome::closeWanted, this, &QDialog::accept);
    connect(outcome, &RollBackOutcome::undoWanted, this, [this] {
        emit undoWanted(run());
        accept();
    });
    showInstead(outcome);
}

} // namespace deltascope::desktop
