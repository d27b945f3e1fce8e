#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <memory>
#include <string>

namespace deltascope::app {

/// Where a demo publishes: `folder`/bucket, or what the request names.
Address demoBucket(const DemoRequest& request, const std::string& folder);

/// Makes the bucket of a demo if it is not there, and removes what an earlier demo left in it. Errors: Exists (it holds
/// something else), Unsupported (nobody vouches that the demo is the only writer, where the store needs that), those of
/// the store.
Result<void> prepareDemoBucket(Workbench& bench, const DemoRequest& request, const Address& bucket, TaskContext& task);

/// The bucket of a demo that was prepared. Errors: as Stores::open.
Result<std::shared_ptr<ObjectStore>> openDemoBucket(Workbench& bench, const Address& bucket);

/// Removes objects, as far as the store lets us. Errors: Unsupported, those of the store.
Result<void> removeFromDemo(ObjectStore& bucket, const std::vector<std::string>& keys, TaskContext& task);

} // namespace deltascope::app
