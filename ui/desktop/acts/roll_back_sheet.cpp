#include "acts/roll_back_sheet.h"

#include "acts/roll_back_outcome.h"
#include "look/format.h"
#include "widgets/cards.h"

#include <QVBoxLayout>

namespace deltascope::desktop {

RollBackSheet::RollBackSheet(ServiceBridge& bridge, const RunPointer& run, const QString& title, const QString& actText,
                             app::ActRequest request, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(run->id), title, actText, parent)
    , m_request(std::move(request))
{
    QLabel* what =
        makeLabel(tr("The earlier state is published as a new step behind the newest one. Every step that is "
                     "there stays as it is, and can be gone back to in the same way."),
                  "muted");
    what->setWordWrap(true);
    options()->addWidget(what);
    setMinimumWidth(720);
}

RollBackSheet* RollBackSheet::to(StepId step, ServiceBridge& bridge, const RunPointer& run, QWidget* parent)
{
    return new RollBackSheet(bridge, run, tr("Roll back %1 to step %2").arg(safeName(run->name)).arg(step.step),
                             tr("Roll back now"), { "rollback", { { "step", step.address().toStdString() } } }, parent);
}

RollBackSheet* RollBackSheet::undo(ServiceBridge& bridge, const RunPointer& run, QWidget* parent)
{
    return new RollBackSheet(bridge, run, tr("Undo the roll back of %1").arg(safeName(run->name)), tr("Undo now"),
                             { "undo", {} }, parent);
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
