#pragma once

#include "acts/plan_sheet.h"

namespace deltascope::desktop {

/// A new plan for what a task was about: its old one holds no longer, or objects were rewritten.
class AgainSheet final : public PlanSheet {
    Q_OBJECT

public:
    AgainSheet(ServiceBridge& bridge, const app::TaskView& task, app::ActRequest request, QWidget* parent);
    /// The same with rewritten objects, and what that means.
    static AgainSheet* accepting(ServiceBridge& bridge, const app::TaskView& task, app::ActRequest request,
                                 QWidget* parent);

protected:
    app::ActRequest request() const override { return m_request; }

private:
    app::ActRequest m_request;
};

} // namespace deltascope::desktop
