#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope::app {

using TensorList = std::shared_ptr<const std::vector<TensorInfo>>;

/// Name, type and shape of each tensor of a state, by name. They stand in the complete and partial forms that the state
/// is made from; the headers of deltas can only contradict them, and are read where no replay has shown that they fit.
/// Neighboring steps mostly have their full forms in common, so the last list is kept for as long as these objects are
/// what they were. Any thread.
class StateTensors {
public:
    /// `plan` leads to `version`. Errors: as openForFacts().
    Result<TensorList> of(const Workbench& bench, const Run& run, const Version& version, Plan plan, TaskContext& task);

private:
    TensorList kept(const std::string& objects) const;

    mutable std::mutex m_mutex; ///< guards what follows
    std::string m_objects; ///< identities of what the list was read from
    TensorList m_last;
};

} // namespace deltascope::app
