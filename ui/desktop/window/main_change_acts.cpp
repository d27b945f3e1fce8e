#include "window/main_window.h"

#include "acts/act_sheet.h"
#include "acts/act_words.h"
#include "acts/roll_back_sheet.h"
#include "window/bottom_dock.h"

#include <filesystem>

// The acts that change something: a roll back, and those whose sheets are made from their fields.

namespace deltascope::desktop {

bool MainWindow::mayAct() const { return m_focus->run() && !m_session.isRecorded(); }

void MainWindow::addChangeActions()
{
    const QString menu = tr("Run");
    const auto atStep = [this] { return mayAct() && m_focus->b(); };
    m_actions->add({ .id = QStringLiteral("run.rollBack"),
                     .text = tr("Roll back to B…"),
                     .menu = menu,
                     .icon = actIcon("rollback"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R),
                     .act = [this] { rollBack(); },
                     .enabled = [this] { return mayAct() && m_focus->b() && m_focus->b()->restorable; },
                     .cli = [this] { return commandOnB(QStringLiteral("rollback")); } });
    m_actions->add({ .id = QStringLiteral("run.undo"),
                     .text = tr("Undo the roll back…"),
                     .menu = menu,
                     .shortcut = QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_Z),
                     .act = [this] { undoRollBack(m_focus->id()); },
                     .enabled =
                         [this] {
                             const app::RunView* run = mayAct() ? m_focus->run()->run.get() : nullptr;
                             return run && !run->epochs.empty() && !run->epochs.back().steps.empty()
                                 && run->epochs.back().steps.back().restores.has_value();
                         } });
    for (const app::ActInfo& act : app::actInfos()) {
        if (hasOwnSheet(act.kind))
            continue;
        const std::function<bool()> open = [this] { return mayAct(); };
        m_actions->add({ .id = actionOf(act.kind),
                         .text = actWords(act.title) + QStringLiteral("…"),
                         .menu = menu,
                         .icon = actIcon(act.kind),
                         .act = [this, kind = std::string(act.kind)] { changeRun(kind); },
                         .enabled = asksForStep(act) ? std::function<bool()>(atStep) : open });
    }
}

void MainWindow::rollBack()
{
    const app::StepView* step = m_focus->b();
    if (!step)
        return;
    auto* sheet = RollBackSheet::to(StepId { step->epoch, step->step }, m_session.bridge(), m_focus->run(), this);
    connect(sheet, &RollBackSheet::undoWanted, this, &MainWindow::undoRollBack);
    sheet->open();
}

void MainWindow::undoRollBack(const QString& run)
{
    const RunPointer undone = m_session.monitor().run(run.toStdString());
    if (!undone)
        return say(tr("✕ The run of that roll back is not open any more: open it first"));
    auto* sheet = RollBackSheet::undo(m_session.bridge(), undone, this);
    connect(sheet, &RollBackSheet::undoWanted, this, &MainWindow::undoRollBack);
    sheet->open();
}

void MainWindow::discardLeftBy(const app::TaskView& task)
{
    const RunPointer run = m_session.monitor().run(task.plan.run);
    if (!run)
        return say(tr("✕ The run of that task is not open any more: open it first"));
    const std::filesystem::path destination(task.plan.destination);
    openActSheet(run, "discard",
                 { { "folder", destination.parent_path().string() }, { "name", destination.filename().string() } });
}

/// B is filled in where the act is about a step.
void MainWindow::changeRun(const std::string& kind)
{
    const std::optional<app::ActInfo> act = actInfo(kind);
    if (!act || !m_focus->run())
        return;
    app::ActArgs known;
    if (const app::StepView* step = m_focus->b(); step && asksForStep(*act))
        known.emplace("step", StepId { step->epoch, step->step }.address().toStdString());
    openActSheet(m_focus->run(), kind, known);
}

void MainWindow::openActSheet(const RunPointer& run, const std::string& kind, const app::ActArgs& known)
{
    const std::optional<app::ActInfo> act = actInfo(kind);
    if (!act)
        return;
    auto* sheet = new ActSheet(m_session.bridge(), run, *act, known, this);
    connect(sheet, &PlanSheet::started, m_bottom, &BottomDock::showTasks);
    sheet->open();
}

} // namespace deltascope::desktop
