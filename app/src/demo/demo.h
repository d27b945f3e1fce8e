#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Runs the demo: trains a small model, publishes every step with the real engine, lets three replicas follow, and
/// plays a script of incidents (docs/cli.md, "demo"). `makeBench` gives a bench for each of its actors. Ends when the
/// task is stopped or the time of the request is over; its files stay. Errors: Exists (the folder holds something
/// else), those of publisher and disk. The folder is locked meanwhile. Call it on a thread of its own: it lowers its
/// priority for good.
Result<DemoView> runDemo(const DemoRequest& request, const std::string& folder,
                         const std::function<Workbench()>& makeBench, TaskContext& task);

/// Makes the folder of a demo ready, removing what an earlier demo left there. Errors: Exists (it holds something else,
/// or a demo runs there), Io.
Result<void> prepareDemoFolder(FileSystem& disk, const std::string& folder);

/// Removes the folder of a demo. Errors: those of prepareDemoFolder.
Result<void> removeDemoFolder(FileSystem& disk, const std::string& folder);

} // namespace deltascope::app
