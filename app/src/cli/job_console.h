#pragma once

#include "deltascope/app/service.h"

#include "terminal.h"

#include <functional>

namespace deltascope::cli {

/// Installs the handlers for SIGINT and SIGTERM (the first one stops the job cleanly, a second one ends the process)
/// and ignores SIGPIPE. Call once.
void installSignalHandlers();

/// Listeners to what a job reports on its way, for stdout: the job is canceled when nobody reads that any more.
struct JobListeners {
    std::function<void(const app::RunView&)> onRun; ///< of any job
    std::function<void(const app::PublishView&)> onPublished;
};

/// Waits for a job, shows its progress on stderr and passes on what it says. Returns what the job ended with.
Result<app::JobResult> waitForJob(app::Service& service, app::EventFeed& feed, app::JobId job, const Style& style,
                                  const JobListeners& listeners = {});

/// Whether the user wants the program to end.
bool interrupted() noexcept;

/// Blocks until the user ends the program.
void waitForInterrupt();

/// Runs a job whose result is a `View`.
template <class View>
Result<std::shared_ptr<const View>> runJob(app::Service& service, const Style& style,
                                           const std::function<app::JobId(app::Service&)>& start)
{
    const std::unique_ptr<app::EventFeed> feed = service.subscribe({});
    DS_TRY(app::JobResult result, waitForJob(service, *feed, start(service), style));
    return std::get<std::shared_ptr<const View>>(std::move(result));
}

} // namespace deltascope::cli
