#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/publish.h"

#include <functional>

namespace deltascope::app {

/// What publishing one step would do. Writes nothing.
Result<PublishView> planPublication(Workbench& bench, const PublishRequest& request, TaskContext& task);
/// Publishes one step. `planHash`: as publishStep() takes it.
Result<PublishView> publishOnce(Workbench& bench, const PublishRequest& request, const std::string& planHash,
                                TaskContext& task);

/// Publishes what a trainer drops into `request.watchFolder`; `onChange` gets the view after every version and notice.
/// Ends as publishWatched does; Canceled is an ordinary end.
Result<PublishView> publishFolder(Workbench& bench, const PublishRequest& request,
                                  const std::function<void(const PublishView&)>& onChange, TaskContext& task);

} // namespace deltascope::app
