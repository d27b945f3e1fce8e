#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <memory>
#include <string>

namespace deltascope::app {

/// What an act opens: the source of a run, and how it is read.
struct ActSource {
    std::shared_ptr<ObjectStore> store;
    OpenOptions options;
    std::string name; ///< of the run: the last part of its address
};
/// `isWritten`: the act puts objects there. Where the store cannot put under a condition, the user who confirms the
/// plan, which warns of that, vouches that nobody else does.
Result<ActSource> openActSource(const Workbench& bench, const SourceRequest& request, bool isWritten);

} // namespace deltascope::app
