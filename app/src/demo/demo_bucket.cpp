#include "demo/demo_bucket.h"
#include "deltascope/engine/beside_keys.h"

#include <algorithm>

namespace deltascope::app {

namespace {

/// Stands in a bucket that belongs to a demo alone.

}

Address demoBucket(const DemoRequest& request, const std::string& folder)
{
    return request.into.isEmpty() ? Address(folder + "/bucket") : request.into.absolute();
}

Result<std::shared_ptr<ObjectStore>> openDemoBucket(Workbench& bench, const Address& bucket)
{
    return bench.stores->open(bucket, { true }); // prepareDemoBucket() has made sure of it
}

Result<void> removeFromDemo(ObjectStore& bucket, const std::vector<std::string>& keys, TaskContext& task)
{
    for (const Result<void>& removed : bucket.remove({ keys.begin(), keys.end() }, task)) {
        if (!removed && removed.error().code != Code::NotFound)
            return removed;
    }
    return {};
}

Result<void> prepareDemoBucket(Workbench& bench, const DemoRequest& request, const Address& bucket, TaskContext& task)
{
    DS_TRY(const bool made, bench.stores->create(bucket, task));
    DS_TRY(const std::shared_ptr<ObjectStore> store, openDemoBucket(bench, bucket));
    DS_TRY(const std::vector<ObjectInfo> listing, listAll(*store, "", task));
    const bool marked = std::any_of(listing.begin(), listing.end(),
                                    [](const ObjectInfo& object) { return object.key == beside::DemoMark; });
    if (!listing.empty() && !marked)
        return fail(Code::Exists, "the place for the demo holds something else", store->uri(),
                    "name a new or empty one with --into");
    if (!store->traits().conditionalPut && !made && !marked && !request.soleWriter)
        return fail(Code::Unsupported, "this store cannot put under a condition, so nothing keeps two publishers apart",
                    store->uri(),
                    "name a bucket that the demo can make, or add --sole-writer if nobody else writes there");
    std::vector<std::string> keys;
    for (const ObjectInfo& object : listing) {
        if (object.key != beside::DemoMark)
            keys.push_back(object.key);
    }
    std::reverse(keys.begin(), keys.end()); // what is built on others goes before them
    DS_CHECK(removeFromDemo(*store, keys, task));
    if (marked)
        return {};
    constexpr std::string_view Text = "Made by deltascope demo; emptied when a demo starts here again.\n";
    const MemoryPayload mark(asBytes(Text));
    DS_TRY([[maybe_unused]] const ObjectInfo put, store->put(beside::DemoMark, mark, PutMode::Replace, task));
    return {};
}

} // namespace deltascope::app
