#pragma once

#include "acts/plan_sheet.h"
#include "state/step_cursor.h"

namespace deltascope::desktop {

class TextTable;

/// Lists the steps that can be gone back to, shows what a roll back to the chosen one would change and write, asks for
/// the name of the run, carries it out, and stays open for what comes of it: the step that was written, and who has
/// loaded it.
class RollBackSheet final : public PlanSheet {
    Q_OBJECT

public:
    static RollBackSheet* to(StepId step, ServiceBridge& bridge, const RunPointer& run, QWidget* parent);
    /// Takes the roll back that the newest step is back.
    static RollBackSheet* undo(ServiceBridge& bridge, const RunPointer& run, QWidget* parent);

signals:
    void undoWanted(const QString& run); ///< of what it has done

protected:
    app::ActRequest request() const override { return m_request; }
    void actStarted(const app::TaskView& task) override;

private:
    RollBackSheet(ServiceBridge& bridge, const RunPointer& run, const QString& title, const QString& actText,
                  app::ActRequest request, QWidget* parent);

    QWidget* makeSteps(StepId chosen);
    void choose(StepId step);

    RunPointer m_of; ///< as it was when the sheet was opened
    app::ActRequest m_request;
};

} // namespace deltascope::desktop
