#pragma once

#include "acts/plan_sheet.h"
#include "state/step_cursor.h"

class QComboBox;
class QLineEdit;

namespace deltascope::desktop {

/// Asks which steps are verified and how deeply.
class VerifySheet final : public PlanSheet {
    Q_OBJECT

public:
    /// `range`: as in app::VerifyArgs.
    VerifySheet(ServiceBridge& bridge, const RunPointer& run, const QString& range, QWidget* parent);

protected:
    app::ActRequest request() const override;

private:
    QLineEdit* m_range;
    QComboBox* m_level;
};

} // namespace deltascope::desktop
