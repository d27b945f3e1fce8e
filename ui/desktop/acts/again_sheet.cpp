#include "acts/again_sheet.h"

#include "look/format.h"

namespace deltascope::desktop {

AgainSheet::AgainSheet(ServiceBridge& bridge, const app::TaskView& task, app::PlanRequest request, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(task.plan.run), safeName(task.plan.title), tr("Start"), parent)
    , m_request(std::move(request))
{
}

} // namespace deltascope::desktop
