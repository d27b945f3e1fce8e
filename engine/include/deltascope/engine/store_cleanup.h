#pragma once

#include "deltascope/engine/object_store.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Bytes that stand in a store, and no key for them.
struct StrandedUpload {
    std::string key; ///< that was to be put
    std::size_t pieces = 0;
    std::uint64_t bytes = 0; ///< of them
};

/// What a store offers whose writers may be killed. Apart from ObjectStore, because sources are only ever read: nobody
/// cleans up in a run but its publisher, who holds its lease. Any thread.
class StoreCleanup {
public:
    virtual ~StoreCleanup() = default;

    /// Errors: Usage (see checkKey), NotFound, Auth, Io.
    virtual Result<void> remove(std::string_view key, TaskContext& task) = 0;

    /// With an outcome for each key, in their order. Here one after the other; stores that can remove many at once do,
    /// and may count an object that was not there as removed. Errors: as those of remove, Canceled.
    virtual std::vector<Result<void>> removeMany(const std::vector<std::string>& keys, TaskContext& task)
    {
        std::vector<Result<void>> outcomes;
        outcomes.reserve(keys.size());
        for (const std::string& key : keys) {
            const Result<void> going = task.checkpoint();
            outcomes.push_back(going ? remove(key, task) : going);
        }
        return outcomes;
    }

    /// Removes what puts of processes that have ended left half-written in the folders for whose key `enters` answers
    /// true ("" is the store itself, others have no slash at their end); a folder that is not entered hides all below.
    /// Processes are looked for on this machine alone: only for folders where nobody else may be writing. Returns how
    /// many it removed. Errors: Canceled, Auth, Io.
    virtual Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                                  TaskContext& task) = 0;

    /// What puts of this machine that ended early have sent and only the store can remove: xorbs. Puts under way do not
    /// count, and those neither whose bytes were put since. `forget`: they are not told again. Errors: Canceled, Auth,
    /// Io.
    virtual Result<std::vector<StrandedUpload>> stranded(bool /*forget*/, TaskContext& /*task*/)
    {
        return std::vector<StrandedUpload>();
    }
};

} // namespace deltascope
