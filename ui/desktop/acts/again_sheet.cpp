#include "acts/again_sheet.h"

#include "look/format.h"
#include "widgets/cards.h"

#include <QVBoxLayout>

namespace deltascope::desktop {

AgainSheet::AgainSheet(ServiceBridge& bridge, const app::TaskView& task, app::ActRequest request, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(task.plan.run), safeName(task.plan.title), tr("Start"), parent)
    , m_request(std::move(request))
{
}

AgainSheet* AgainSheet::accepting(ServiceBridge& bridge, const app::TaskView& task, app::ActRequest request,
                                  QWidget* parent)
{
    request.args.insert_or_assign("accept_rewritten", true);
    auto* sheet = new AgainSheet(bridge, task, std::move(request), parent);
    auto* why = makeLabel(tr("Objects were rewritten since they were first read. If that was on purpose, this can be "
                             "done with what is there now."),
                          "body");
    why->setWordWrap(true);
    sheet->options()->addWidget(why);
    return sheet;
}

} // namespace deltascope::desktop
