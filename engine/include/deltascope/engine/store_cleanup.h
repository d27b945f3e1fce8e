#pragma once

#include "deltascope/engine/object_store.h"

#include <cstddef>
#include <functional>
#include <string_view>

namespace deltascope {

/// What a store offers whose writers may be killed. Apart from ObjectStore, because sources are only ever read: nobody
/// cleans up in a run but its publisher, who holds its lease. Any thread.
class StoreCleanup {
public:
    virtual ~StoreCleanup() = default;

    /// Errors: Usage (see checkKey), NotFound, Auth, Io.
    virtual Result<void> remove(std::string_view key, TaskContext& task) = 0;

    /// Removes what puts of processes that have ended left half-written in the folders for whose key `enters` answers
    /// true ("" is the store itself, others have no slash at their end); a folder that is not entered hides all below.
    /// Processes are looked for on this machine alone: only for folders where nobody else may be writing. Returns how
    /// many it removed. Errors: Canceled, Auth, Io.
    virtual Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                                  TaskContext& task) = 0;
};

} // namespace deltascope
