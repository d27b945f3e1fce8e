#include "state/same_object.h"

namespace deltascope {

Result<void> expectSameObject(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    const Result<ObjectInfo> now = store.stat(object.key, task);
    if (now && now->identity == object.identity)
        return {};
    return fail(Code::Rewritten, "the checkpoint changed while it was read, so nothing was published", object.key,
                "publish again when it is complete");
}

} // namespace deltascope
