#pragma once

#include "acts/plan_sheet.h"
#include "state/step_cursor.h"

#include <string>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLineEdit;

namespace deltascope::desktop {

/// Asks where the checkpoint of a step goes and how, and remembers the folder for the next one.
class MaterializeSheet final : public PlanSheet {
    Q_OBJECT

public:
    MaterializeSheet(ServiceBridge& bridge, const RunPointer& run, StepId step, QWidget* parent);

protected:
    app::ActRequest request() const override;
    void actStarted(const app::TaskView& task) override;

private:
    QHBoxLayout* addDestination(const QString& text);
    void askForFolder(const RunPointer& run);
    void askForName(const RunPointer& run, const QString& server);
    void browse();

    StepId m_step;
    std::string m_source; ///< canonical address of the run
    bool m_local; ///< written on this machine
    QLineEdit* m_to;
    QCheckBox* m_remember;
    QComboBox* m_shards;
    QComboBox* m_state;
    QCheckBox* m_forTraining;
    QCheckBox* m_acrossGap;
};

/// The request of a materialization without questions.
app::MaterializeArgs materializePlan(StepId step, const QString& destination);

} // namespace deltascope::desktop
